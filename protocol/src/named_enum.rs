//! Enums whose values have names in jobs, JSON and the database.

/// Defines an enum whose names follow `$case`, such as `"snake_case"`. `as_str`, serde and
/// `str::parse` use these names. An enum with a `$kind` can be the value of a job option.
macro_rules! named_enum {
    (
        names: $case:tt $(, kind: $kind:literal)?;
        $(#[$attribute:meta])*
        pub enum $name:ident { $($variants:tt)* }
    ) => {
        $(#[$attribute])*
        #[derive(
            Clone,
            Copy,
            Debug,
            Eq,
            PartialEq,
            serde::Deserialize,
            serde::Serialize,
            strum::EnumIter,
            strum::EnumMessage,
            strum::EnumString,
            strum::IntoStaticStr,
            strum::VariantNames,
            utoipa::ToSchema,
        )]
        #[serde(rename_all = $case)]
        #[strum(serialize_all = $case)]
        pub enum $name { $($variants)* }

        impl $name {
            pub fn as_str(self) -> &'static str {
                self.into()
            }
        }

        $(
            impl $crate::job::value::Keyword for $name {
                const KIND: &'static str = $kind;
            }
        )?
    };
}

pub(crate) use named_enum;
