//! Tests which I/Os are looked up, and how many I/Os they represent.

mod interval;
mod stream;
mod write_samples;

use crate::{
    load::layer_sampler::{layer_sums::LayerSums, *},
    plan::fixture::{resolved, same, target},
    system::{
        host::{inventory::Inventory, kernel::Kernel},
        layers::{LayerBytes, builder::LayersBuilder},
    },
};
use leadline_protocol::verdict::StorageLayer;
use serde_json::{Value, json};
use std::{cell::RefCell, collections::BTreeMap};
