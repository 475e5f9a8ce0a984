// Building a run: three ways to the disk first, then what and how much, the same as editable fio text beside it, and
// what would happen before anything does.
import { Button, Menu } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { PRESETS } from '../../model/presets';
import { Page } from '../../ui/parts';
import { BasicFields } from './basic';
import { Before } from './before';
import { Experiments } from './experiments';
import { MoreOptions } from './more';
import { StartRow } from './start';
import { JobText } from './text';
import { useDraft } from './use-draft';
import { WayChoice } from './ways';
import './new-run.css';

const route = getRouteApi('/new');

/** The page. */
export function NewRunPage() {
  const { from } = route.useSearch();
  const draft = useDraft(from ? Number(from) : undefined);
  return (
    <Page title="New run">
      <div className="row">
        <h1>New run</h1>
        {from && <span className="chip">begun as #{from}</span>}
        <span className="push" />
        <Menu width={440}>
          <Menu.Target>
            <Button>Presets ▾</Button>
          </Menu.Target>
          <Menu.Dropdown>
            {PRESETS.map(({ name, reason, text }) => (
              <Menu.Item key={name} onClick={() => draft.setText(text)}>
                <b>{name}</b>
                <div className="mute small">{reason}</div>
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      </div>
      <div className="new-run">
        <div className="stack">
          <WayChoice draft={draft} />
          <BasicFields draft={draft} />
          <MoreOptions draft={draft} />
          <Before draft={draft} />
          <StartRow draft={draft} />
        </div>
        <JobText draft={draft} />
      </div>
      <Experiments />
    </Page>
  );
}
