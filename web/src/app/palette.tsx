// Command palette: opens runs and pages, starts presets and changes the theme. Its code is loaded
// when the palette is first opened.
import { useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight, type SpotlightActionGroupData, spotlight } from '@mantine/spotlight';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { runsQuery } from '../api/queries';
import { IdempotentRequest, startRun } from '../api/start';
import { jobsOf, parseJobText } from '../model/job/job-text';
import { PRESETS } from '../model/job/presets';
import { describeRun, runTitle } from '../model/run/summary';
import { notifyError } from '../ui/notify';
import { useOpenRun } from '../ui/run-links';
import { PAGES } from './pages';
import './palette.css';

const DEBOUNCE_MS = 150;
const MAX_RUNS = 6;

/** Opens when it is mounted, and on Ctrl-K after that. */
export default function Palette() {
  const [query, setQuery] = useState('');
  useEffect(() => spotlight.open(), []);
  const { runs, isCurrent } = useRunActions(query);
  const pages = usePageActions();
  const presets = usePresetActions();
  const themes = useThemeActions();
  return (
    <Spotlight
      shortcut="mod + K"
      tagsToIgnore={[]}
      query={query}
      onQueryChange={setQuery}
      actions={[runs, pages, presets, themes]}
      filter={(text, groups) => [
        // The server filters the runs. Until it responds, Enter must not open an earlier match.
        ...groups
          .slice(0, 1)
          .map((group) =>
            isCurrent ? group : filterGroup(group as SpotlightActionGroupData, text),
          ),
        ...groups.slice(1).map((group) => filterGroup(group as SpotlightActionGroupData, text)),
      ]}
      nothingFound="Nothing found"
      searchProps={{
        placeholder: 'Go to a run or page, start a preset, change the theme',
        'aria-label': 'Command',
      }}
      attributes={{ content: { 'aria-label': 'Command palette' } }}
      scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}
      scrollable
      maxHeight={420}
      transitionProps={{ duration: 0 }}
    />
  );
}

function filterGroup({ group, actions }: SpotlightActionGroupData, text: string) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (label: string) => words.every((word) => label.toLowerCase().includes(word));
  return { group, actions: actions.filter(({ label = '' }) => matches(`${group} ${label}`)) };
}

/** Returns the runs that match the text, or the newest runs. A number matches a run number. */
function useRunActions(query: string): { runs: SpotlightActionGroupData; isCurrent: boolean } {
  const [text] = useDebouncedValue(query.trim(), DEBOUNCE_MS);
  const q = /^\d+$/.test(text) ? `#${text}` : text;
  const { data, isPlaceholderData } = useInfiniteQuery({
    ...runsQuery({ q: q || undefined }),
    placeholderData: keepPreviousData,
  });
  const openRun = useOpenRun();
  const found = data?.pages.flatMap(({ runs }) => runs) ?? [];
  const actions = found.slice(0, MAX_RUNS).map((run) => ({
    id: `run-${run.number}`,
    label: `#${run.number} ${runTitle(run)}`,
    description: describeRun(run),
    onClick: () => void openRun(run),
  }));
  const isCurrent = text === query.trim() && !isPlaceholderData;
  return { runs: { group: 'Runs', actions }, isCurrent };
}

function usePageActions(): SpotlightActionGroupData {
  const navigate = useNavigate();
  const actions = PAGES.map(({ to, label }) => ({
    id: to,
    label,
    onClick: () => void navigate({ to }),
  }));
  return { group: 'Go to', actions };
}

function usePresetActions(): SpotlightActionGroupData {
  const openRun = useOpenRun();
  const [request] = useState(() => new IdempotentRequest());
  const start = async (name: string, text: string) => {
    try {
      const jobs = jobsOf(parseJobText(text));
      await openRun(await startRun({ name, jobs }, request));
    } catch (error) {
      notifyError(error);
    }
  };
  const actions = PRESETS.map(({ name, description, text }) => ({
    id: `preset-${name}`,
    label: name,
    description,
    onClick: () => void start(name, text),
  }));
  return { group: 'Start', actions };
}

function useThemeActions(): SpotlightActionGroupData {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const themes = (['light', 'dark', 'auto'] as const).filter((theme) => theme !== colorScheme);
  const actions = themes.map((theme) => ({
    id: `theme-${theme}`,
    label: theme === 'auto' ? 'System theme' : `${theme === 'dark' ? 'Dark' : 'Light'} theme`,
    onClick: () => setColorScheme(theme),
  }));
  return { group: 'Change theme', actions };
}
