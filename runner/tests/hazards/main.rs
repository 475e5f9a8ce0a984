//! Hazards: targets that a job must not write to, built from loop devices and files that the tests
//! create. Plan and run must reject every job on a hazard with the same code, and not one byte may
//! change. To add a hazard, add a table entry and the function that creates the hazard.
//!
//! By default, each hazard runs with each name, kind of write, engine and mode at least once, but
//! similar hazards (`quick`) run only a few jobs each. To run every combination:
//!
//!     cargo test -p leadline-runner --test hazards -- --ignored
//!
//! With `LEADLINE_HAZARD_TABLE=FILE`, each hazard appends one line to a table: title, jobs,
//! rejected, overwritten, accepted without a change, errors, codes.

mod aliases;
mod clean;
mod confirmations;
mod confirmed_swaps;
mod contents;
mod devices_in_use;
mod during;
mod files;
mod fingerprint;
mod hazard;
mod hidden;
mod matrix;
mod processes;
mod product;
mod runner;
mod scene;
#[path = "../scratch/mod.rs"]
mod scratch;
mod swaps;
mod table;
mod unseen_data;

use hazard::{device, file};
use product::{Kind, Name};
use serde_json::json;
use std::panic::catch_unwind;

/// Defines one test per hazard, and one test that runs every combination for all of them.
macro_rules! hazards {
    ($( $name:ident => $hazard:expr; )+) => {
        $( #[test] fn $name() { $hazard.check(stringify!($name)); } )+

        #[test]
        #[ignore = "thousands of jobs: cargo test -p leadline-runner --test hazards -- --ignored"]
        fn all_combinations() {
            let hazards: Vec<(&str, fn(&str))> = vec![
                $( (stringify!($name), |name| $hazard.check_all(name)) ),+
            ];
            let passes = |(name, check): &(&str, fn(&str))| catch_unwind(|| check(name)).is_ok();
            let failed: Vec<&str> = hazards
                .iter()
                .filter(|hazard| !passes(hazard))
                .map(|(name, _)| *name)
                .collect();
            assert!(failed.is_empty(), "{failed:?}");
        }
    };
}

/// Defines one test per function call.
macro_rules! tests {
    ($( $name:ident => $call:expr; )+) => {
        $( #[test] fn $name() { $call; } )+
    };
}

const IN_USE: &[&str] = &["device_in_use"];
const BACKS_LOOP: &[&str] = &["backs_loop", "device_in_use"];
const READ_ONLY: &[&str] = &["read_only"];
/// If the guard has no permission to see the loop devices, it may detect only that the file is
/// open.
const OPEN_OR_LOOP: &[&str] = &["backs_loop", "file_in_use"];
const FILE_IN_USE: &[&str] = &["file_in_use"];
const OUTSIDE: &[&str] = &["outside_roots"];
const DENIED: &[&str] = &["permission_denied"];
const NO_SPACE: &[&str] = &["no_space", "insufficient_space"];
/// Writes to a partition may also be rejected because raw writes are not permitted.
const PARTITION_IN_USE: &[&str] = &["device_in_use", "raw_write_refused"];
const NOT_A_FILE: &[&str] = &["unsupported_file_type", "not_a_file", "not_a_block_device"];
const NOT_A_DEVICE: &[&str] = &["missing_device", "not_a_block_device", "outside_roots"];
const BY_PATH: &[Name] = &[Name::Path, Name::Relative];
/// Jobs that need no privileges.
const USER_KINDS: &[Kind] = &[
    Kind::Write,
    Kind::Layout,
    Kind::RandWrite,
    Kind::NoLayout,
    Kind::Overwrite,
    Kind::Append,
    Kind::Truncate,
    Kind::SecondJob,
    Kind::Rw,
];
/// Jobs that extend the file or write to its holes.
const GROWING: &[Kind] = &[
    Kind::Write,
    Kind::Layout,
    Kind::Overwrite,
    Kind::Written,
    Kind::RandWrite,
    Kind::SecondJob,
    Kind::NoLayout,
];

mod devices {
    use super::*;
    use devices_in_use::*;

    hazards! {
        a_mounted_device_is_rejected => device(mounted).rejected_with(IN_USE);
        a_device_that_is_mounted_read_only_is_rejected =>
            device(mounted_read_only).quick().rejected_with(IN_USE);
        a_device_with_a_mounted_xfs_is_rejected => device(mounted_xfs).quick().rejected_with(IN_USE);
        a_device_that_is_mounted_in_another_namespace_is_rejected =>
            device(mounted_in_another_namespace).rejected_with(IN_USE);
        a_device_that_is_mounted_in_a_namespace_without_processes_is_rejected =>
            device(mounted_in_a_namespace_without_processes).quick().rejected_with(IN_USE);
        a_device_with_a_lazily_unmounted_filesystem_is_rejected =>
            device(lazily_unmounted).rejected_with(IN_USE);
        a_disk_with_a_mounted_partition_is_rejected =>
            device(whole_disk_with_a_mounted_partition).rejected_with(IN_USE);
        a_partition_of_a_held_disk_is_rejected =>
            device(partition_of_a_held_disk).rejected_with(PARTITION_IN_USE);
        a_partition_of_a_read_only_disk_is_rejected =>
            device(partition_of_a_read_only_disk).rejected_with(READ_ONLY);
        a_device_that_another_process_holds_is_rejected =>
            device(held_by_another_process).rejected_with(IN_USE);
        active_swap_space_is_rejected => device(active_swap).rejected_with(IN_USE);
        the_first_member_of_a_mounted_btrfs_is_rejected =>
            device(first_member_of_a_mounted_btrfs).quick().rejected_with(IN_USE);
        the_second_member_of_a_mounted_btrfs_is_rejected =>
            device(second_member_of_a_mounted_btrfs).rejected_with(IN_USE);
        a_device_below_a_mounted_loop_device_is_rejected =>
            device(below_a_mounted_loop_device).rejected_with(BACKS_LOOP);
        a_device_below_an_unmounted_loop_device_is_rejected =>
            device(below_an_unmounted_loop_device).quick().rejected_with(BACKS_LOOP);
        a_device_two_layers_below_a_mounted_loop_device_is_rejected =>
            device(two_below_a_mounted_loop_device).quick().rejected_with(BACKS_LOOP);
        a_device_below_the_file_of_a_loop_device_is_rejected =>
            device(below_the_file_of_a_loop_device).rejected_with(BACKS_LOOP);
        the_twin_of_a_mounted_loop_device_is_rejected =>
            device(twin_of_a_mounted_loop_device).rejected_with(BACKS_LOOP);
        the_shifted_twin_of_a_mounted_loop_device_is_rejected =>
            device(shifted_twin_of_a_mounted_loop_device).quick().rejected_with(BACKS_LOOP);
        a_partition_below_a_mounted_loop_device_on_its_disk_is_rejected =>
            device(partition_below_a_loop_device).rejected_with(BACKS_LOOP);
        a_partition_whose_disk_shares_its_file_with_a_mounted_loop_device_is_rejected =>
            device(partition_of_a_twin).rejected_with(IN_USE);
        a_partition_of_an_active_swap_file_is_rejected =>
            device(partition_of_an_active_swap_file).quick()
                .rejected_with(&["swap_file", "device_in_use"]);
        a_loop_device_on_a_mounted_device_is_rejected =>
            device(loop_on_a_mounted_device).rejected_with(IN_USE);
        a_loop_device_on_a_disk_with_a_mounted_partition_is_rejected =>
            device(loop_on_a_disk_with_a_mounted_partition).quick().rejected_with(IN_USE);
        a_loop_device_on_active_swap_space_is_rejected =>
            device(loop_on_active_swap).quick().rejected_with(IN_USE);
        a_loop_device_on_swap_space_with_another_name_is_rejected =>
            device(loop_on_active_swap_by_another_node).quick().rejected_with(IN_USE);
        a_loop_device_on_a_held_device_is_rejected =>
            device(loop_on_a_held_device).rejected_with(IN_USE);
        a_loop_device_on_a_lazily_unmounted_device_is_rejected =>
            device(loop_on_a_lazily_unmounted_device).quick().rejected_with(IN_USE);
        a_loop_device_on_a_device_below_a_mounted_one_is_rejected =>
            device(twin_above_a_device).rejected_with(BACKS_LOOP);
        a_read_only_device_is_rejected => device(read_only).rejected_with(READ_ONLY);
        a_device_that_was_set_read_only_is_rejected => device(set_read_only).quick().rejected_with(READ_ONLY);
        a_loop_device_on_a_hard_linked_file_is_rejected =>
            device(on_a_hard_linked_file).rejected_with(&["hard_linked"]).not_allowed();
        a_loop_device_on_an_active_swap_file_is_rejected =>
            device(files::loop_device_on_an_active_swap_file)
                .rejected_with(&["swap_file", "device_in_use"]);
        a_blank_loop_device_outside_the_root_is_rejected =>
            device(outside_the_root).rejected_with(&["raw_write_refused"]).not_allowed();
        a_loop_device_on_a_file_that_left_the_root_is_rejected =>
            device(on_a_file_that_moved_out_of_the_root)
                .rejected_with(&["raw_write_refused"]).not_allowed();
        a_device_without_an_identity_is_rejected =>
            device(zram).rejected_with(&["raw_write_refused"]);
    }
}

mod unused_devices {
    use super::*;
    use contents::*;

    hazards! {
        ext4_is_overwritten_only_with_a_confirmation => ext4();
        ext2_is_overwritten_only_with_a_confirmation => ext2();
        xfs_is_overwritten_only_with_a_confirmation => xfs();
        btrfs_is_overwritten_only_with_a_confirmation => btrfs();
        vfat_is_overwritten_only_with_a_confirmation => vfat();
        iso9660_is_overwritten_only_with_a_confirmation => iso9660();
        a_swap_signature_is_overwritten_only_with_a_confirmation => swap();
        luks_is_overwritten_only_with_a_confirmation => luks1();
        the_second_luks_header_is_overwritten_only_with_a_confirmation => second_luks2_header();
        lvm_is_overwritten_only_with_a_confirmation => lvm();
        md_at_the_start_is_overwritten_only_with_a_confirmation => md_1_2();
        md_at_the_end_is_overwritten_only_with_a_confirmation => md_1_0();
        old_md_at_the_end_is_overwritten_only_with_a_confirmation => md_0_90();
        zfs_is_overwritten_only_with_a_confirmation => zfs();
        the_last_zfs_label_is_overwritten_only_with_a_confirmation => last_zfs_label();
        bitlocker_is_overwritten_only_with_a_confirmation => bitlocker();
        ntfs_is_overwritten_only_with_a_confirmation => ntfs();
        bcache_is_overwritten_only_with_a_confirmation => bcache();
        ceph_is_overwritten_only_with_a_confirmation => ceph();
        oracle_asm_is_overwritten_only_with_a_confirmation => oracle_asm();
        apfs_is_overwritten_only_with_a_confirmation => apfs();
        drbd_is_overwritten_only_with_a_confirmation => drbd();
        gpt_is_overwritten_only_with_a_confirmation => gpt_disk();
        mbr_is_overwritten_only_with_a_confirmation => mbr_disk();
        a_hybrid_table_is_overwritten_only_with_a_confirmation => hybrid_disk();
        a_backup_gpt_is_overwritten_only_with_a_confirmation => gpt_with_only_the_backup();
        a_partition_is_overwritten_only_with_a_confirmation =>
            device(devices_in_use::partition_with_a_filesystem)
                .rejected_with(&["not_confirmed", "raw_write_refused"]);
        a_partition_without_a_table_is_overwritten_only_with_a_confirmation =>
            device(devices_in_use::partition_without_a_table).not_allowed().shows("ext4");
        noise_at_the_start_is_overwritten_only_with_a_confirmation => noise_at_the_start();
        noise_in_the_middle_is_overwritten_only_with_a_confirmation => noise_in_the_middle();
        noise_at_the_end_is_overwritten_only_with_a_confirmation => noise_at_the_end();
        one_byte_in_the_first_mib_is_overwritten_only_with_a_confirmation =>
            one_byte_in_the_first_mib();
        one_byte_in_the_last_mib_is_overwritten_only_with_a_confirmation =>
            one_byte_in_the_last_mib();
        one_block_in_the_middle_is_overwritten_only_with_a_confirmation =>
            one_block_in_the_middle();
        a_raw_database_is_overwritten_only_with_a_confirmation => raw_database();
        one_byte_on_large_sectors_is_overwritten_only_with_a_confirmation =>
            one_byte_on_a_disk_with_large_sectors();
        one_byte_at_the_end_of_an_odd_size_is_overwritten_only_with_a_confirmation =>
            one_byte_at_the_end_of_an_odd_size();
        an_allowed_ext4_is_overwritten_only_with_a_confirmation =>
            allowed_ext4_outside_the_root();
    }
}

mod used_space {
    use super::*;
    use contents::check_used_space;

    tests! {
        the_confirmation_of_ext4_shows_its_used_space =>
            check_used_space(&["mkfs.ext4", "-q", "-F"]);
        the_confirmation_of_xfs_shows_its_used_space =>
            check_used_space(&["mkfs.xfs", "-q", "-f"]);
        the_confirmation_of_btrfs_shows_its_used_space =>
            check_used_space(&["mkfs.btrfs", "-q", "-f"]);
    }
}

mod foreign_files {
    use super::*;
    use files::*;

    hazards! {
        a_foreign_file_is_overwritten_only_with_a_confirmation => file(foreign_file);
        one_foreign_byte_is_overwritten_only_with_a_confirmation => file(one_byte)
            .reads_may_be_rejected();
        one_byte_in_a_small_block_is_overwritten_only_with_a_confirmation =>
            file(one_byte_in_a_small_block).quick().reads_may_be_rejected();
        data_at_the_end_of_a_file_is_overwritten_only_with_a_confirmation =>
            file(sparse_file_with_data_at_the_end);
        one_block_of_a_sparse_file_is_overwritten_only_with_a_confirmation =>
            file(sparse_file_with_one_block).quick();
        a_foreign_file_below_a_mount_is_overwritten_only_with_a_confirmation =>
            file(foreign_file_below_a_mount);
        an_owned_file_with_foreign_data_is_overwritten_only_with_a_confirmation =>
            file(modified_owned_file).quick();
        an_owned_file_with_foreign_data_and_its_old_time_is_overwritten_only_with_a_confirmation =>
            file(modified_owned_file_with_its_old_time);
        a_copied_ownership_mark_is_not_an_owned_file => file(copied_ownership_mark);
        a_file_moved_over_an_owned_file_is_not_an_owned_file =>
            file(file_moved_over_an_owned_file).quick();
        a_file_with_flock_is_rejected => file(flocked).quick().rejected_with(FILE_IN_USE);
        a_file_with_a_posix_lock_is_rejected => file(posix_locked).quick().rejected_with(FILE_IN_USE);
        a_file_with_one_locked_byte_is_rejected => file(partially_locked).quick().rejected_with(FILE_IN_USE);
        a_mapped_file_is_rejected => file(mapped).rejected_with(FILE_IN_USE);
        a_file_that_is_open_for_writing_is_rejected =>
            file(open_for_writing).quick().rejected_with(FILE_IN_USE);
        a_file_that_is_open_for_reading_is_rejected =>
            file(open_for_reading).quick().rejected_with(FILE_IN_USE);
        an_empty_file_that_is_open_is_rejected => file(open_and_empty).rejected_with(FILE_IN_USE)
            .reads_may_be_rejected();
        a_leased_file_is_rejected => file(leased).rejected_with(FILE_IN_USE)
            .with_kinds(&[Kind::Write, Kind::LoopDevice]).reads_may_be_rejected();
        an_append_only_file_is_rejected => file(append_only).rejected_or_unable_with(DENIED);
        an_immutable_file_is_rejected => file(immutable).quick().rejected_or_unable_with(DENIED);
        a_running_program_is_rejected =>
            file(running_program).rejected_or_unable_with(&["permission_denied", "file_in_use"]);
        a_file_with_a_hard_link_outside_is_rejected =>
            file(hard_linked).rejected_with(&["hard_linked"]);
        a_file_with_a_hard_link_under_the_root_is_rejected =>
            file(hard_linked_under_the_root).quick().rejected_with(&["hard_linked"]);
        a_link_out_of_the_root_is_rejected =>
            file(link_out_of_the_root).quick().rejected_with(OUTSIDE).reads_may_be_rejected();
        a_directory_link_out_of_the_root_is_rejected =>
            file(linked_directory_out_of_the_root).rejected_with(OUTSIDE).reads_may_be_rejected();
        a_new_file_outside_the_root_is_rejected =>
            file(new_file_outside_the_root).quick().rejected_with(OUTSIDE).by(BY_PATH).reads_may_be_rejected();
        a_path_outside_the_root_is_rejected =>
            file(parent_of_the_root).quick().rejected_with(OUTSIDE).by(BY_PATH).reads_may_be_rejected();
        a_directory_with_the_prefix_of_the_root_is_rejected =>
            file(directory_with_the_prefix_of_the_root).quick().rejected_with(OUTSIDE).reads_may_be_rejected();
        an_active_swap_file_is_rejected => file(active_swap_file).rejected_with(&["swap_file"]);
        a_file_on_a_read_only_filesystem_is_rejected =>
            file(on_a_read_only_filesystem).rejected_with(READ_ONLY);
        a_file_that_fills_the_filesystem_is_rejected =>
            file(file_that_fills_the_filesystem).rejected_or_unable_with(NO_SPACE)
            .with_kinds(GROWING).by(BY_PATH).reads_may_be_rejected();
        holes_that_do_not_fit_are_rejected => file(holes_on_a_full_filesystem)
            .rejected_or_unable_with(NO_SPACE).with_kinds(GROWING).by(BY_PATH);
        reserved_space_is_rejected => file(reserved_space).quick().rejected_or_unable_with(NO_SPACE)
            .with_kinds(GROWING).by(BY_PATH).reads_may_be_rejected();
        a_fifo_is_rejected => file(fifo).quick().invalid_target_with(NOT_A_FILE);
        a_socket_is_rejected => file(socket).quick().invalid_target_with(NOT_A_FILE);
        a_character_device_is_rejected =>
            file(character_device).quick().invalid_target_with(NOT_A_FILE);
        a_directory_is_rejected => file(directory).quick()
            .invalid_target_with(&["is_a_directory", "unsupported_file_type", "not_a_file"]);
        a_dangling_link_is_rejected =>
            file(dangling_link).quick().invalid_target_with(NOT_A_FILE).by(BY_PATH);
        a_missing_device_is_rejected =>
            file(missing_device).quick().invalid_target_with(NOT_A_DEVICE).by(BY_PATH);
        a_node_without_a_device_is_rejected => file(node_without_a_device).quick()
            .invalid_target_with(&["no_medium", "not_a_block_device", "raw_write_refused", "loop_requires_file"]);
    }
}

mod hidden_files {
    use super::*;
    use hidden::*;

    hazards! {
        the_image_of_a_mounted_loop_device_is_rejected =>
            file(behind_a_mounted_loop).rejected_with(BACKS_LOOP);
        the_image_of_an_unmounted_loop_device_is_rejected =>
            file(behind_an_unmounted_loop).rejected_with(BACKS_LOOP);
        the_image_of_a_read_only_loop_device_is_rejected =>
            file(behind_a_read_only_loop).quick().rejected_with(BACKS_LOOP);
        the_image_of_a_loop_device_in_another_namespace_is_rejected =>
            file(behind_a_loop_in_another_namespace).quick().rejected_with(BACKS_LOOP);
        the_renamed_image_of_a_loop_device_is_rejected =>
            file(behind_a_loop_on_a_renamed_image).quick().rejected_with(BACKS_LOOP);
        the_image_of_a_file_backed_mount_is_rejected =>
            file(behind_a_file_backed_mount).rejected_with(FILE_IN_USE);
        an_image_through_a_bind_mount_is_rejected =>
            file(through_a_bind_mount).rejected_with(BACKS_LOOP);
        an_image_through_an_overlay_is_rejected => file(through_an_overlay).rejected_with(OPEN_OR_LOOP);
        an_image_below_an_overlay_is_rejected => file(below_an_overlay).rejected_with(OPEN_OR_LOOP);
        an_image_in_a_namespace_that_hides_it_is_rejected =>
            file(in_a_namespace_that_hides_it).rejected_with(OPEN_OR_LOOP);
        an_image_hidden_from_its_owner_is_rejected =>
            file(hidden_from_its_owner).rejected_with(OPEN_OR_LOOP).with_kinds(USER_KINDS);
        an_image_hidden_from_an_unprivileged_user_is_rejected =>
            file(hidden_from_an_unprivileged_user).rejected_with(OPEN_OR_LOOP)
                .with_kinds(USER_KINDS);
        an_image_of_an_unprivileged_user_is_rejected =>
            file(as_an_unprivileged_user).rejected_with(OPEN_OR_LOOP).with_kinds(USER_KINDS);
        a_file_that_is_open_outside_the_container_is_rejected =>
            file(open_outside_the_container).quick().rejected_with(FILE_IN_USE);
    }
}

mod aliased_files {
    use super::*;
    use aliases::*;

    hazards! {
        a_loop_device_through_an_overlay_on_the_file_of_a_mounted_one_is_rejected =>
            device(loop_device_through_an_overlay).rejected_with(IN_USE);
        a_loop_device_below_an_overlay_on_the_file_of_a_mounted_one_is_rejected =>
            device(loop_device_below_an_overlay).quick().rejected_with(IN_USE);
        a_loop_device_on_a_copied_file_of_an_overlay_is_rejected =>
            device(loop_device_on_a_copied_file_of_an_overlay).quick().rejected_with(IN_USE);
        a_loop_device_through_fuse_on_the_file_of_a_mounted_one_is_rejected =>
            device(loop_device_through_fuse).rejected_with(IN_USE);
        a_loop_device_below_fuse_on_the_file_of_a_mounted_one_is_rejected =>
            device(loop_device_below_fuse).quick().rejected_with(IN_USE);
        a_blank_loop_device_through_an_overlay_on_the_file_of_a_held_one_is_rejected =>
            device(blank_loop_device_through_an_overlay).rejected_with(IN_USE);
        an_image_through_fuse_is_rejected => file(file_through_fuse).rejected_with(OPEN_OR_LOOP);
        the_image_of_a_shorter_loop_device_through_fuse_is_rejected =>
            file(file_of_a_shorter_loop_device_through_fuse).quick().rejected_with(OPEN_OR_LOOP);
        an_image_copied_up_by_an_overlay_is_rejected =>
            file(copied_file_of_an_overlay).quick().rejected_with(OPEN_OR_LOOP);
        a_swap_file_through_fuse_is_rejected =>
            file(swap_file_through_fuse).quick().rejected_with(&["swap_file"]);
        a_copy_of_a_mounted_filesystem_is_confirmed_with_a_hint =>
            file(copy_of_a_mounted_filesystem).quick().shows("the same UUID is mounted at");
        a_loop_device_on_an_open_file_is_rejected =>
            device(on_an_open_file).rejected_with(FILE_IN_USE);
        a_loop_device_on_a_locked_file_is_rejected =>
            device(on_a_locked_file).quick().rejected_with(FILE_IN_USE);
        a_loop_device_on_a_mapped_file_is_rejected =>
            device(on_a_mapped_file).quick().rejected_with(FILE_IN_USE);
        an_owned_file_that_is_open_for_writing_is_rejected =>
            file(owned_file_that_is_open_for_writing).rejected_with(FILE_IN_USE);
        an_owned_file_whose_descriptor_is_in_a_socket_is_rejected =>
            file(owned_file_whose_descriptor_is_in_a_socket).rejected_with(FILE_IN_USE);
        an_owned_file_with_flock_is_rejected =>
            file(owned_file_with_flock).quick().rejected_with(FILE_IN_USE);
    }
}

mod blank_targets_in_use {
    use super::*;
    use aliases::{overlay, overlay_with_a_copied_file};
    use processes::*;

    hazards! {
        a_blank_device_that_is_open_for_writing_is_rejected =>
            device(used_device(open)).rejected_with(IN_USE);
        a_blank_device_that_is_open_by_another_node_is_rejected =>
            device(device_used_by_another_node(open)).quick().rejected_with(IN_USE);
        a_mapped_blank_device_is_rejected =>
            device(used_device(mapped)).quick().rejected_with(IN_USE);
        a_blank_device_with_a_protected_mapping_is_rejected =>
            device(used_device(mapped_and_protected)).quick().rejected_with(IN_USE);
        a_blank_device_with_flock_is_rejected =>
            device(used_device(flocked)).quick().rejected_with(IN_USE);
        a_blank_device_with_a_shared_flock_is_rejected =>
            device(used_device(shared_flock)).quick().rejected_with(IN_USE);
        a_blank_device_with_flock_by_another_node_is_rejected =>
            device(device_used_by_another_node(flocked)).quick().rejected_with(IN_USE);
        a_blank_device_with_an_ofd_lock_is_rejected =>
            device(used_device(ofd_locked)).quick().rejected_with(IN_USE);
        a_blank_device_with_a_posix_lock_is_rejected =>
            device(used_device(posix_locked)).quick().rejected_with(IN_USE);
        a_blank_device_that_is_open_in_a_thread_is_rejected =>
            device(used_device(open_in_a_thread)).quick().rejected_with(IN_USE);
        a_blank_device_that_is_open_after_main_thread_exit_is_rejected =>
            device(used_device(open_after_main_thread_exit)).quick()
                .rejected_with(IN_USE);
        a_blank_device_that_is_mapped_after_main_thread_exit_is_rejected =>
            device(used_device(mapped_after_main_thread_exit)).quick()
                .rejected_with(IN_USE);
        a_blank_device_with_a_file_that_is_mapped_and_protected_is_rejected =>
            device(device_on_used_file(mapped_and_protected)).rejected_with(FILE_IN_USE);
        a_blank_device_with_a_file_that_is_open_in_a_thread_is_rejected =>
            device(device_on_used_file(open_in_a_thread)).quick().rejected_with(FILE_IN_USE);
        a_blank_device_with_a_file_that_is_open_after_main_thread_exit_is_rejected =>
            device(device_on_used_file(open_after_main_thread_exit)).quick()
                .rejected_with(FILE_IN_USE);
        a_blank_device_with_a_file_that_is_mapped_after_main_thread_exit_is_rejected =>
            device(device_on_used_file(mapped_after_main_thread_exit)).quick()
                .rejected_with(FILE_IN_USE);
        a_disk_with_an_open_partition_is_rejected =>
            device(disk_with_used_partition(open)).quick().rejected_with(IN_USE);
        a_partition_of_an_open_disk_is_rejected =>
            device(partition_of_used_disk(open)).quick().rejected_with(PARTITION_IN_USE);
        a_loop_device_on_an_open_device_is_rejected =>
            device(device_on_used_device(open)).quick().rejected_with(IN_USE);
        a_blank_device_with_a_file_that_is_open_through_an_overlay_is_rejected =>
            device(device_on_file_used_through(overlay, open)).rejected_with(FILE_IN_USE);
        a_blank_device_with_a_file_that_is_mapped_through_an_overlay_is_rejected =>
            device(device_on_file_used_through(overlay, mapped_and_protected)).quick()
                .rejected_with(FILE_IN_USE);
        a_blank_device_with_a_file_that_is_locked_through_an_overlay_is_rejected =>
            device(device_on_file_used_through(overlay, flocked)).quick()
                .rejected_with(FILE_IN_USE);
        a_blank_device_with_a_copied_file_that_is_open_through_an_overlay_is_rejected =>
            device(device_on_file_used_through(overlay_with_a_copied_file, open)).quick()
                .rejected_with(FILE_IN_USE);
        a_blank_device_with_a_file_that_is_open_below_an_overlay_is_rejected =>
            device(device_on_file_used_below(overlay, open)).rejected_with(FILE_IN_USE);
        a_blank_device_with_a_file_that_is_mapped_below_an_overlay_is_rejected =>
            device(device_on_file_used_below(overlay, mapped_and_protected)).quick()
                .rejected_with(FILE_IN_USE);
        a_blank_device_with_a_file_that_is_locked_below_an_overlay_is_rejected =>
            device(device_on_file_used_below(overlay, flocked)).quick()
                .rejected_with(FILE_IN_USE);
        a_blank_device_with_a_file_that_is_open_in_a_container_is_rejected =>
            device(device_on_file_open_in_a_container).quick().rejected_with(FILE_IN_USE);
        a_file_of_an_overlay_that_is_open_below_is_rejected =>
            file(file_used_below(overlay, open)).rejected_with(FILE_IN_USE);
        a_copied_file_of_an_overlay_that_is_open_below_is_rejected =>
            file(file_used_below(overlay_with_a_copied_file, open)).quick()
                .rejected_with(FILE_IN_USE);
        a_file_of_an_overlay_that_is_mapped_below_is_rejected =>
            file(file_used_below(overlay, mapped_and_protected)).quick()
                .rejected_with(FILE_IN_USE);
        a_file_of_an_overlay_that_is_locked_below_is_rejected =>
            file(file_used_below(overlay, flocked)).quick().rejected_with(FILE_IN_USE);
    }

    tests! {
        the_problem_names_the_process_that_uses_a_blank_device => check_message();
    }

    /// Not a test: other tests run this function in a child process that uses a file.
    #[test]
    #[ignore = "started by other tests"]
    fn process_of_another_test() {
        process();
    }
}

mod unsampled_data {
    use super::*;
    use unseen_data::*;

    /// Jobs whose region includes the data.
    const WHOLE: &[Kind] = &[Kind::Write, Kind::RandWrite, Kind::Rw, Kind::UpperHalf];

    hazards! {
        data_between_the_samples_of_a_file_is_overwritten_only_with_a_confirmation =>
            file(in_a_file_of_zeros).with_kinds(WHOLE);
        data_between_the_samples_of_a_device_is_overwritten_only_with_a_confirmation =>
            device(on_a_device_of_zeros).with_kinds(WHOLE).not_allowed();
        one_block_of_a_large_sparse_file_is_overwritten_only_with_a_confirmation =>
            file(in_a_large_sparse_file).quick();
        data_after_many_extents_is_overwritten_only_with_a_confirmation =>
            device(on_a_device_of_many_extents).quick().not_allowed();
    }
}

mod clean_targets {
    use super::*;
    use clean::*;
    use processes::*;

    /// Defines one test per target. `$changes` are additional job options.
    macro_rules! accepted {
        ($( $name:ident => $build:expr, $changes:expr; )+) => {
            $( #[test] fn $name() { check(stringify!($name), $build, &$changes); } )+
        };
    }

    accepted! {
        a_new_file_is_accepted => new_file, json!({});
        a_new_file_in_a_subdirectory_is_accepted => new_file_in_a_subdirectory, json!({});
        a_new_file_of_an_unprivileged_user_is_accepted => new_file_of_an_unprivileged_user, json!({});
        a_new_file_on_xfs_is_accepted => new_file_on(&["mkfs.xfs", "-q", "-K"], 320), json!({});
        a_new_file_on_btrfs_is_accepted =>
            new_file_on(&["mkfs.btrfs", "-q", "-K"], 128), json!({});
        a_file_next_to_an_attached_image_is_accepted => neighbor_of_an_attached_image, json!({});
        an_empty_file_is_accepted => empty_file, json!({});
        a_sparse_file_is_accepted => sparse_file, json!({});
        a_file_of_zeros_is_accepted => file_of_zeros, json!({});
        an_owned_file_is_accepted => unmodified_owned_file, json!({"randseed": 4});
        an_owned_file_is_accepted_again => owned_file_after_a_second_run, json!({"randseed": 4});
        a_blank_device_is_accepted => blank_device, json!({});
        a_blank_device_is_accepted_through_a_link => blank_device_by(Name::ById), json!({});
        a_blank_device_is_accepted_through_another_node => blank_device_by(Name::Node), json!({});
        a_device_of_zeros_is_accepted => device_of_zeros, json!({});
        a_blank_device_with_large_sectors_is_accepted => blank_device_with_large_sectors, json!({});
        a_tiny_blank_device_is_accepted => tiny_blank_device, json!({});
        a_blank_device_next_to_a_mounted_one_is_accepted => neighbor_of_a_mounted_device, json!({});
        a_blank_device_that_another_process_reads_is_accepted =>
            used_device(read), json!({});
        a_blank_device_that_another_process_maps_to_read_is_accepted =>
            used_device(read_through_a_mapping), json!({});
        a_blank_device_that_another_process_maps_privately_is_accepted =>
            used_device(privately_mapped), json!({});
        a_blank_device_with_a_file_that_another_process_reads_is_accepted =>
            device_on_used_file(read), json!({});
        a_blank_device_with_a_file_that_another_process_maps_to_read_is_accepted =>
            device_on_used_file(read_through_a_mapping), json!({});
        a_blank_device_with_a_file_that_another_process_maps_privately_is_accepted =>
            device_on_used_file(privately_mapped), json!({});
        a_blank_device_with_a_file_that_is_read_through_an_overlay_is_accepted =>
            device_on_file_used_through(aliases::overlay, read), json!({});
        a_blank_device_next_to_an_open_one_is_accepted => device_next_to_an_open_one, json!({});
        a_blank_device_as_long_as_an_open_overlay_file_is_accepted =>
            device_as_long_as_an_open_overlay_file, json!({});
        a_blank_device_on_a_file_through_fuse_is_accepted =>
            device_on_a_file_through_fuse, json!({});
        a_new_file_on_an_overlay_is_accepted => new_file_on_an_overlay, json!({});
        a_blank_device_that_a_run_reads_is_accepted => device_that_a_run_reads, json!({});
        a_loop_device_created_by_the_run_is_accepted =>
            loop_device_on("new"), json!({"loop_device": 1});
        a_loop_device_on_an_owned_file_is_accepted =>
            loop_device_on("own"), json!({"loop_device": 1, "randseed": 4});
    }

    tests! {
        an_allowed_blank_device_is_accepted_with_its_confirmation => check_allowed_device();
        a_new_file_is_accepted_through_a_relative_path => check_relative_path();
    }
}

mod confirmed_overwrites {
    use super::*;
    use confirmations::*;

    tests! {
        the_text_of_another_device_does_not_confirm => check_invalid(other_text);
        an_empty_text_does_not_confirm => check_invalid(empty_text);
        every_character_of_a_code_is_checked => each_character_of_a_code();
        an_empty_code_does_not_confirm => check_invalid(empty_code);
        a_shorter_code_does_not_confirm => check_invalid(shorter_code);
        a_code_does_not_confirm_another_job => check_invalid(other_job);
        a_code_does_not_confirm_another_region => check_invalid(other_region);
        a_code_does_not_confirm_a_second_job => check_invalid(second_job);
        a_code_does_not_confirm_another_device => check_invalid(other_device);
        recreating_the_device_invalidates_a_code => check_invalid(device_created_again);
        a_code_does_not_confirm_another_backing_file => check_invalid(device_on_another_file);
        resizing_the_device_invalidates_a_code => check_invalid(resized_device);
        changing_the_sector_size_invalidates_a_code => check_invalid(other_sector_size);
        a_new_filesystem_invalidates_a_code => check_invalid(new_filesystem);
        changing_bytes_invalidates_a_code => check_invalid(other_bytes);
        rewriting_the_same_bytes_invalidates_a_code => check_invalid(equal_bytes);
        a_code_is_valid_for_one_run => check_invalid(used_before);
        a_reboot_invalidates_a_code => check_invalid(after_reboot);
        a_code_does_not_permit_writing_to_a_read_only_device =>
            check(read_only_device, &["read_only", "confirmation_invalid"]);
        a_code_expires => check(eleven_minutes_later, &["confirmation_expired"]);
        a_code_from_the_future_does_not_confirm =>
            check(code_from_the_future, &["confirmation_invalid", "confirmation_expired"]);
        a_code_starts_only_one_of_many_concurrent_runs => one_of_many_runs();
        renaming_a_job_does_not_invalidate_a_code => renamed_job_stays_confirmed();
        a_job_document_can_contain_confirmations => confirmation_in_the_document();
        each_device_needs_its_own_confirmation => one_of_two_devices();
        changing_the_file_invalidates_a_code => check_file(changed_file);
        extending_the_file_invalidates_a_code => check_file(longer_file);
        replacing_the_file_invalidates_a_code => check_file(replaced_file);
        a_hidden_change_to_the_file_invalidates_a_code => hidden_change(attach_nothing);
        a_hidden_change_to_the_backing_file_invalidates_a_code => hidden_change(attach_device);
        a_file_that_is_only_extended_is_described_as_such => extended_file();
    }
}

mod races {
    use super::*;
    use swaps::*;

    tests! {
        swapped_hard_links_are_not_written_to => hard_links_during_layout(100);
        swapped_links_to_devices_are_not_written_to => links_to_devices(40);
        swapped_directories_are_not_written_to => directories_below_the_root(60);
        a_root_that_becomes_a_link_before_the_job_is_not_followed => root_before_the_job();
        a_root_that_becomes_a_link_between_steps_is_not_followed => root_between_steps();
        targets_swapped_after_their_confirmation_are_not_written_to => confirmed_swaps::check(300);
    }

    /// Starts more than 10,000 runs, because some swaps fail: an open loop device cannot be
    /// detached.
    #[test]
    #[ignore = "takes ten minutes: make swaps"]
    fn targets_swapped_after_their_confirmation_are_not_written_to_in_10_000_swaps() {
        confirmed_swaps::check(11_000);
    }

    #[test]
    #[ignore = "takes minutes"]
    fn swapped_hard_links_are_not_written_to_in_30_000_swaps() {
        hard_links_during_layout(10_000);
    }

    #[test]
    #[ignore = "takes minutes"]
    fn swapped_links_to_devices_are_not_written_to_in_10_000_swaps() {
        links_to_devices(10_000);
    }

    #[test]
    #[ignore = "takes minutes"]
    fn swapped_directories_are_not_written_to_in_10_000_swaps() {
        directories_below_the_root(10_000);
    }
}

mod running_jobs {
    use super::*;
    use during::*;

    tests! {
        a_device_cannot_be_claimed_during_a_run => other_programs_cannot_claim_the_device();
        the_device_below_a_loop_device_cannot_be_claimed_during_a_run =>
            other_programs_cannot_claim_the_lower_device();
        a_run_stops_when_its_device_grows => stops_after(growth);
        a_run_stops_when_its_device_shrinks => fails_after(shrinking);
        a_read_job_opens_its_target_read_only => reads_cannot_write();
        nothing_is_created_in_dev => nothing_is_created_below_dev();
        devices_are_also_rejected_without_roots => devices_without_roots();
        an_ambiguous_identity_is_rejected => ambiguous_identity();
        a_plan_lists_every_problem => every_problem_is_listed();
    }
}
