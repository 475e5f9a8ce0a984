// The pages in the navigation and in the command palette.
export const PAGES = [
  { to: '/new', label: 'New run' },
  { to: '/runs', label: 'Runs' },
  { to: '/studies', label: 'Studies' },
  { to: '/compare', label: 'Compare' },
  { to: '/trends', label: 'Trends' },
  { to: '/schedules', label: 'Schedules' },
  { to: '/devices', label: 'Devices' },
  { to: '/settings', label: 'Settings' },
] as const;
