//! Short hashes for names and ids that have to stay the same from one start to the next.

/// The last `digits` digits, in base 36 (`0-9a-z`), of a hash of `text`. The same on every machine and in every
/// version, which the hashers of the standard library do not promise. At most twelve digits say something.
pub(crate) fn short_hash(text: &str, digits: usize) -> String {
    let mut rest = fnv1a(text.as_bytes());
    (0..digits)
        .map(|_| {
            let digit = u32::try_from(rest % 36).ok().and_then(|digit| char::from_digit(digit, 36));
            rest /= 36;
            digit.unwrap_or('0')
        })
        .collect()
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_legal_digits_and_never_change() {
        assert_eq!(short_hash("", 7), "54xu4jz");
        assert_eq!(short_hash("a.b", 9).len(), 9);
        assert_ne!(short_hash("a.b", 7), short_hash("a:b", 7));
    }
}
