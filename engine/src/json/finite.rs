//! Finds numbers that JSON cannot hold, before they are printed as `null`.

use std::fmt::{self, Display};

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// What is wrong with a value that is walked.
#[derive(Debug)]
pub(crate) enum NotFinite {
    /// A number in it is NaN or infinite.
    Number,
    /// It does not let itself be walked; printing it will say why.
    Other,
}

/// Walks a value as a printer would, and prints nothing.
struct Walk;

/// Whether every number in `value` has a JSON form.
pub(crate) fn check<T: Serialize + ?Sized>(value: &T) -> Result<(), NotFinite> {
    match value.serialize(Walk) {
        Err(NotFinite::Number) => Err(NotFinite::Number),
        Ok(()) | Err(NotFinite::Other) => Ok(()),
    }
}

// === impl NotFinite ===

impl Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("non-finite number in result")
    }
}

impl std::error::Error for NotFinite {}

impl serde::ser::Error for NotFinite {
    fn custom<T: Display>(_message: T) -> Self {
        Self::Other
    }
}

// === impl Walk ===

/// The methods for values that hold no number which could be wrong.
macro_rules! nothing_to_find {
    ($($method:ident($($kind:ty),*);)*) => {
        $(fn $method(self, $(_: $kind),*) -> Result<(), NotFinite> {
            Ok(())
        })*
    };
}

impl Serializer for Walk {
    type Ok = ();
    type Error = NotFinite;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    nothing_to_find! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_i128(i128);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_u128(u128);
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(&'static str);
        serialize_unit_variant(&'static str, u32, &'static str);
    }

    fn serialize_f32(self, number: f32) -> Result<(), NotFinite> {
        if number.is_finite() { Ok(()) } else { Err(NotFinite::Number) }
    }

    fn serialize_f64(self, number: f64) -> Result<(), NotFinite> {
        if number.is_finite() { Ok(()) } else { Err(NotFinite::Number) }
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NotFinite> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), NotFinite> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), NotFinite> {
        value.serialize(self)
    }

    fn collect_str<T: Display + ?Sized>(self, _: &T) -> Result<(), NotFinite> {
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Self, NotFinite> {
        Ok(self)
    }
}

/// Containers: each element is walked.
macro_rules! walk_elements {
    ($($container:ident :: $method:ident($($name:ty)?);)*) => {
        $(impl $container for Walk {
            type Ok = ();
            type Error = NotFinite;

            fn $method<T: Serialize + ?Sized>(&mut self, $(_: $name,)? value: &T) -> Result<(), NotFinite> {
                value.serialize(Walk)
            }

            fn end(self) -> Result<(), NotFinite> {
                Ok(())
            }
        })*
    };
}

walk_elements! {
    SerializeSeq::serialize_element();
    SerializeTuple::serialize_element();
    SerializeTupleStruct::serialize_field();
    SerializeTupleVariant::serialize_field();
    SerializeStruct::serialize_field(&'static str);
    SerializeStructVariant::serialize_field(&'static str);
}

impl SerializeMap for Walk {
    type Ok = ();
    type Error = NotFinite;

    /// A printer refuses a bad key by itself.
    fn serialize_key<T: Serialize + ?Sized>(&mut self, _key: &T) -> Result<(), NotFinite> {
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotFinite> {
        value.serialize(Walk)
    }

    fn end(self) -> Result<(), NotFinite> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use serde_json::{json, value::RawValue};

    #[derive(serde::Serialize)]
    enum Shape {
        Point(f64, f64),
        Circle { radius: f32 },
        Size(f64),
        Nothing,
    }

    fn has_bad_number<T: Serialize>(value: T) -> bool {
        check(&value).is_err()
    }

    #[test]
    fn a_number_that_json_cannot_hold_is_found_wherever_it_stands() {
        assert!(has_bad_number(f64::NAN));
        assert!(has_bad_number(f32::INFINITY));
        assert!(has_bad_number(vec![1.0, f64::NEG_INFINITY]));
        assert!(has_bad_number(Some((1, f64::NAN))));
        assert!(has_bad_number(BTreeMap::from([("mean", f64::NAN)])));
        assert!(has_bad_number(Shape::Point(1.0, f64::NAN)));
        assert!(has_bad_number([Shape::Circle { radius: f32::NAN }]));
        assert!(has_bad_number(Shape::Size(f64::INFINITY)));
    }

    #[test]
    fn everything_else_passes() {
        assert!(!has_bad_number(json!({"a": [1, 2.5, null, "NaN", true, {"b": u64::MAX}]})));
        assert!(!has_bad_number((f64::MAX, f64::MIN_POSITIVE, -0.0, u128::MAX, 'x', ())));
        assert!(!has_bad_number(Shape::Nothing));
        assert!(!has_bad_number(RawValue::from_string("1e999".to_owned()).unwrap()));
    }

    #[test]
    fn a_value_that_cannot_be_walked_is_left_to_the_printer() {
        struct Refuses;
        impl Serialize for Refuses {
            fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
                Err(serde::ser::Error::custom("no"))
            }
        }
        assert!(!has_bad_number(Refuses));
    }
}
