//! The macro that generates the code for all options from the option table.

macro_rules! options {
    ($( $group:ident { $( #[doc = $help:literal] $name:ident $([$($alias:literal),+])? : $type:ty $([$range:expr])? $(= $default:literal)? ),+ $(,)? } )+) => {
        /// A job, as requested. A field is `None` if the option is not given; the method with the
        /// same name applies the default.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Job { $($( #[doc = $help] pub $name: Option<$type>, )+)+ }

        /// All options, in form order.
        pub const OPTIONS: &[OptionDoc] = &[ $($( OptionDoc {
            name: stringify!($name),
            aliases: &[$($($alias),+)?],
            group: stringify!($group),
            kind: <$type as FioValue>::KIND,
            values: <$type as FioValue>::VALUES,
            default: options!(@default $($default)?),
            help: $help.trim_ascii(),
        } ),+ ),+ ];

        impl Job {
            $($( $(
                /// The given value or the default. A test checks that all defaults can be parsed.
                pub fn $name(&self) -> $type {
                    let default = || <$type>::parse($default).expect("a valid default");
                    self.$name.clone().unwrap_or_else(default)
                }
            )? )+)+

            /// JSON values of an option; `None` if it does not exist.
            fn value_schema(name: &str) -> Option<ValueSchema> {
                match name {
                    $($( stringify!($name) $($(| $alias)+)? => Some(<$type>::schema(options!(@range $($range)?))), )+)+
                    _ => None,
                }
            }

            /// Sets an option from text. Returns `None` if the option does not exist.
            pub(crate) fn set(&mut self, name: &str, text: &str) -> Option<Result<(), String>> {
                match name {
                    $($( stringify!($name) $($(| $alias)+)? => Some(<$type>::parse(text).map(|value| self.$name = Some(value))), )+)+
                    _ => None,
                }
            }
        }
    };
    (@range $range:expr) => { Some($range) };
    (@range) => { None };
    (@default $default:literal) => { Some($default) };
    (@default) => { None };
}

pub(crate) use options;
