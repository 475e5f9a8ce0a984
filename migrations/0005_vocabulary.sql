-- Version 5: standard terms for columns and for the keys of stored JSON.
--
-- JSON columns hold compact text, in which quotes inside of strings are escaped: '"key":' matches keys only. Where a key
-- has several meanings, the column or the event type selects one.

PRAGMA user_version = 5;

ALTER TABLE run_details RENAME COLUMN asked TO requested;
ALTER TABLE studies RENAME COLUMN mark TO file_id;
ALTER TABLE studies RENAME COLUMN words TO description;
ALTER TABLE studies RENAME COLUMN own_files TO owned_files;

-- Resolved jobs and host facts.
UPDATE run_details SET
    resolved = replace(resolved, '"clone":', '"worker":'),
    host_facts = replace(host_facts, '"io_uring_refused":', '"io_uring_unavailable":');
UPDATE events SET line = replace(replace(line,
    '"clone":', '"worker":'),
    '"io_uring_refused":', '"io_uring_unavailable":')
    WHERE type = 'accepted';

UPDATE events SET line = replace(replace(replace(replace(replace(line,
    '"leaves":', '"physical_devices":'),
    '"machine_user":', '"host_user":'),
    '"machine_system":', '"host_system":'),
    '"machine_iowait":', '"host_iowait":'),
    '"machine_steal":', '"host_steal":')
    WHERE type = 'sample';

-- Reports, verdicts and findings, with the codes of findings. '"found":' is the residency before the run, and its entry
-- in `absent`.
UPDATE run_details SET
    report = replace(replace(replace(replace(replace(replace(replace(replace(replace(report,
        '"turns":', '"transitions":'),
        '"leaves":', '"physical_devices":'),
        '"clones":', '"workers":'),
        '"choices":', '"decisions":'),
        '"found":', '"initial":'),
        '"percent_of_one":', '"process_percent":'),
        '"machine_percent":', '"host_percent":'),
        '"left_out":', '"omitted_stacks":'),
        '"lost":', '"lost_events":'),
    verdict = replace(replace(replace(replace(verdict,
        '"turned_ms":', '"transition_ms":'),
        '"empty_bytes":', '"unwritten_bytes":'),
        '"beneath_ios":', '"lower_device_ios":'),
        '"beneath_bytes":', '"lower_device_bytes":'),
    findings = replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(findings,
        '"percent_of_one":', '"process_percent":'),
        '"machine_percent":', '"host_percent":'),
        '"beneath_bytes":', '"lower_device_bytes":'),
        '"asked_depth":', '"requested_depth":'),
        '"answered_share":', '"served_share":'),
        '"code":"cache_answered"', '"code":"served_from_cache"'),
        '"code":"readahead_answered"', '"code":"readahead"'),
        '"code":"filesystem_answered"', '"code":"served_by_filesystem"'),
        '"code":"other_io"', '"code":"foreign_io"'),
        '"code":"late_starts"', '"code":"coordinated_omission"'),
        '"code":"more_beneath"', '"code":"lower_device_amplification"'),
        '"code":"device_counters_absent"', '"code":"device_counters_missing"'),
        '"code":"direct_not_honoured"', '"code":"direct_io_fallback"'),
        '"code":"rates_keep_the_mix"', '"code":"rates_limited_by_mix"'),
        '"code":"clones_follow"', '"code":"workers_share_blocks"');
UPDATE events SET line = replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(line,
    '"turns":', '"transitions":'),
    '"leaves":', '"physical_devices":'),
    '"clones":', '"workers":'),
    '"choices":', '"decisions":'),
    '"found":', '"initial":'),
    '"percent_of_one":', '"process_percent":'),
    '"machine_percent":', '"host_percent":'),
    '"left_out":', '"omitted_stacks":'),
    '"lost":', '"lost_events":'),
    '"turned_ms":', '"transition_ms":'),
    '"empty_bytes":', '"unwritten_bytes":'),
    '"beneath_ios":', '"lower_device_ios":'),
    '"beneath_bytes":', '"lower_device_bytes":'),
    '"asked_depth":', '"requested_depth":'),
    '"answered_share":', '"served_share":'),
    '"code":"cache_answered"', '"code":"served_from_cache"'),
    '"code":"readahead_answered"', '"code":"readahead"'),
    '"code":"filesystem_answered"', '"code":"served_by_filesystem"'),
    '"code":"other_io"', '"code":"foreign_io"'),
    '"code":"late_starts"', '"code":"coordinated_omission"'),
    '"code":"more_beneath"', '"code":"lower_device_amplification"'),
    '"code":"device_counters_absent"', '"code":"device_counters_missing"'),
    '"code":"direct_not_honoured"', '"code":"direct_io_fallback"'),
    '"code":"rates_keep_the_mix"', '"code":"rates_limited_by_mix"'),
    '"code":"clones_follow"', '"code":"workers_share_blocks"')
    WHERE type = 'report';

-- Problems.
UPDATE run_details SET failure = replace(replace(failure, '"refusals":', '"problems":'), '"sentence":', '"detail":');
UPDATE events SET line = replace(replace(line, '"refusals":', '"problems":'), '"sentence":', '"detail":')
    WHERE type = 'failed';

UPDATE studies SET
    description = replace(description, '"found_by_hand":', '"missed_by_author":'),
    scaled = replace(scaled, '"asked_bytes":', '"requested_bytes":'),
    owned_files = replace(owned_files, '"sentence":', '"detail":');
