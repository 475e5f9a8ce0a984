//! JSON schema of a job.

use crate::job::{Job, OPTIONS};
use std::borrow::Cow;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr, Schema,
        schema::{AdditionalProperties, ObjectBuilder, OneOfBuilder, SchemaType, Type},
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
            let mut value = OneOfBuilder::new().description(Some(option.help));
            for kind in [Type::String, Type::Number, Type::Boolean] {
                value = value.item(ObjectBuilder::new().schema_type(SchemaType::Type(kind)));
            }
            schema = schema.property(option.name, value);
        }
        schema.into()
    }
}
