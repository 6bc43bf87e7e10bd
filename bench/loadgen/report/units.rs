//! Numbers as people read them.

/// A time in milliseconds, in the unit that suits it, to three digits.
pub(crate) fn milliseconds(ms: f64) -> String {
    if ms <= 0.0 {
        "0 ms".to_owned()
    } else if ms < 1.0 {
        format!("{} µs", digits(ms * 1e3))
    } else if ms < 1_000.0 {
        format!("{} ms", digits(ms))
    } else {
        format!("{} s", digits(ms / 1e3))
    }
}

/// A round time, in the unit that suits it.
pub(crate) fn round_milliseconds(ms: f64) -> String {
    let (number, unit) = match ms {
        ms if ms < 0.999 => (ms * 1e3, "µs"),
        ms if ms < 999.0 => (ms, "ms"),
        ms => (ms / 1e3, "s"),
    };
    // Three digits, since a power of ten is not always exact.
    format!("{} {unit}", (number * 1e3).round() / 1e3)
}

/// A number with thousands set off.
pub(crate) fn count(number: f64) -> String {
    if number < 100.0 && number.fract() != 0.0 {
        return digits(number);
    }
    let plain = format!("{number:.0}");
    let mut text = String::with_capacity(plain.len() + plain.len() / 3);
    for (index, digit) in plain.chars().enumerate() {
        if index > 0 && (plain.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share of one, in percent.
pub(crate) fn percent(share: f64) -> String {
    if share == 0.0 { "0 %".to_owned() } else { format!("{} %", digits(share * 100.0)) }
}

pub(crate) fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", digits(bytes as f64 / f64::from(1 << 20)))
}

/// Three digits.
pub(crate) fn digits(number: f64) -> String {
    let places = match number.abs() {
        0.0 => return "0".to_owned(),
        n if n >= 99.95 => 0,
        n if n >= 9.995 => 1,
        n if n >= 0.9995 => 2,
        n if n >= 0.0995 => 3,
        n if n >= 0.00995 => 4,
        _ => 6,
    };
    format!("{number:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_their_unit() {
        let times =
            [(0.0, "0 ms"), (0.003_12, "3.12 µs"), (11.24, "11.2 ms"), (999.96, "1000 ms"), (1_204.0, "1.20 s")];
        for (ms, expected) in times {
            assert_eq!(milliseconds(ms), expected);
        }
        for (ms, expected) in [(0.05, "50 µs"), (10.0, "10 ms"), (2_000.0, "2 s"), (0.1 * 10.0, "1 ms")] {
            assert_eq!(round_milliseconds(ms), expected);
        }
        for (number, expected) in [(0.0, "0"), (12.0, "12"), (1.5, "1.50"), (1_234_567.0, "1,234,567"), (999.0, "999")]
        {
            assert_eq!(count(number), expected);
        }
        assert_eq!((percent(0.0), percent(0.012_34)), ("0 %".to_owned(), "1.23 %".to_owned()));
        assert_eq!(mebibytes(24_700_000), "23.6 MiB");
    }
}
