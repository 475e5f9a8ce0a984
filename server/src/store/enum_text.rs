//! Enums as text columns, under their serde names.

use serde::Serialize;
use serde::de::value::{Error, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::{Database, Decode, Encode, Sqlite, Type};

/// A variant without data.
pub(super) struct EnumText<T>(pub(super) T);

impl<T> Type<Sqlite> for EnumText<T> {
    fn type_info() -> <Sqlite as Database>::TypeInfo {
        <String as Type<Sqlite>>::type_info()
    }
}

impl<T: Serialize> Encode<'_, Sqlite> for EnumText<T> {
    fn encode_by_ref(
        &self,
        buffer: &mut <Sqlite as Database>::ArgumentBuffer,
    ) -> Result<IsNull, BoxDynError> {
        match serde_json::to_value(&self.0)? {
            serde_json::Value::String(text) => Encode::<Sqlite>::encode(text, buffer),
            other => Err(format!("{other} is not a unit variant").into()),
        }
    }
}

impl<'r, T: DeserializeOwned> Decode<'r, Sqlite> for EnumText<T> {
    fn decode(value: <Sqlite as Database>::ValueRef<'r>) -> Result<Self, BoxDynError> {
        let text = <&str as Decode<Sqlite>>::decode(value)?;
        let variant: StrDeserializer<'_, Error> = text.into_deserializer();
        Ok(Self(T::deserialize(variant)?))
    }
}
