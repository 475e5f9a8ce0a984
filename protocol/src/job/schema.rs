//! JSON schema of a job, derived from the option table. It describes the values that the parser
//! accepts.
//!
//! Three types of valid strings do not match the schema: values surrounded by spaces, positive
//! numbers with a sign, and integers with as many digits as a large maximum. The schema does not
//! contain rules that involve multiple parts of a value, such as shares that must add up to 100 %.

use crate::job::{
    Job, OPTIONS,
    parse::omitted_direction,
    value_schema::{TextSchema, ValueSchema},
};
use std::borrow::Cow;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr, Schema,
        schema::{AdditionalProperties, ObjectBuilder, OneOfBuilder},
    },
};

impl ToSchema for Job {
    fn name() -> Cow<'static, str> {
        "Job".into()
    }
}

impl PartialSchema for Job {
    fn schema() -> RefOr<Schema> {
        let mut schema = ObjectBuilder::new()
            .description(Some(
                "One workload with fio's option names. Values are numbers or fio-style strings such as \"4k\" or \"30s\".",
            ))
            .additional_properties(Some(AdditionalProperties::FreeForm(false)));
        for option in OPTIONS {
            let Some(mut values) = Self::value_schema(option.name) else {
                continue;
            };
            if let TextSchema::Directions { may_omit, .. } = &mut values.text {
                *may_omit = omitted_direction(option.name).is_some();
            }
            schema = schema.property(option.name, one_of(&values).description(Some(option.help)));
            for alias in option.aliases {
                let description = format!("Alias of `{}`.", option.name);
                schema = schema.property(*alias, one_of(&values).description(Some(description)));
            }
        }
        schema.into()
    }
}

fn one_of(values: &ValueSchema) -> OneOfBuilder {
    let schemas = values.schemas().into_iter();
    schemas.fold(OneOfBuilder::new(), OneOfBuilder::item)
}

#[cfg(test)]
mod tests;
