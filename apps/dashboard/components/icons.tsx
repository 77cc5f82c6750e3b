/** SVG paths in a square of 16 units. */
const PATHS = {
  overview: 'M2.5 2.5h4v5h-4zM9.5 2.5h4v3h-4zM2.5 10.5h4v3h-4zM9.5 8.5h4v5h-4z',
  tasks: 'M2.5 4l1.2 1.2L6 3M2.5 10.5l1.2 1.2L6 9.5M8.5 4.5h5M8.5 11h5',
  agents: 'M3.5 6.5h9v6h-9zM8 6.5V3.5M6 9.3v.4M10 9.3v.4M1.5 8.5v2M14.5 8.5v2',
  coordinator: 'M8 2v3M8 11v3M2 8h3M11 8h3M8 5.5a2.5 2.5 0 1 0 .01 0',
  budgets: 'M2.5 12.5l3.5-4 3 2.5 4.5-6M13.5 8V5h-3',
  webhooks:
    'M6 5.5a2.5 2.5 0 1 1 3.6 2.2M7.5 6.5l-2 4M4.5 10a2 2 0 1 0 2 2h5M11.5 10.5a1.5 1.5 0 1 1 0 3',
  reviews:
    'M4 5.5v5M4 5.5a1.5 1.5 0 1 0-.01 0M4 13.5a1.5 1.5 0 1 0-.01 0M12 10.5V7a2 2 0 0 0-2-2H7.5M9.5 3l-2 2 2 2M12 13.5a1.5 1.5 0 1 0-.01 0',
  repositories: 'M3.5 2.5h9v11h-7a2 2 0 0 1-2-2zM3.5 11.5a2 2 0 0 1 2-2h7',
  questions: 'M6 6a2 2 0 1 1 2.6 1.9c-.4.1-.6.4-.6.8v.8M8 11.7v.2M8 2a6 6 0 1 0 .01 0',
  settings:
    'M2.5 5h6M11.5 5h2M2.5 11h2M7.5 11h6M10 3.5a1.5 1.5 0 1 0 .01 0M6 9.5a1.5 1.5 0 1 0 .01 0',
  schedules: 'M8 2a6 6 0 1 0 .01 0M8 4.5V8l2.5 1.5',
  templates: 'M5.5 2.5h8v8h-8zM10.5 10.5v3h-8v-8h3M7.5 5h4M7.5 7.5h4',
  'dead-letter': 'M2.5 4.5h11v8h-11zM2.5 5l5.5 4 5.5-4',
  projects: 'M2 4.5h4.5l1.5 2h6v7H2z',
  usage: 'M2.5 13.5h11M4 11V8M7 11V4M10 11V6.5M13 11V2.5',
  models: 'M8 2l5.5 3v6L8 14l-5.5-3V5zM2.5 5L8 8l5.5-3M8 8v6',
  notices: 'M3.5 11.5V7a4.5 4.5 0 0 1 9 0v4.5zM2 11.5h12M6.5 13.5h3',
  'inbound-hooks': 'M13.5 2.5v11h-6M2.5 8h7M7 5.5L9.5 8 7 10.5',
  users:
    'M6 7.5a2.5 2.5 0 1 0-.01 0M1.5 13.5a4.5 4.5 0 0 1 9 0M10.5 3a2.3 2.3 0 0 1 0 4.4M12 9.6a4.5 4.5 0 0 1 2.5 3.9',
  audit: 'M3.5 2.5h6l3 3v8h-9zM5.5 7h5M5.5 9.5h5M5.5 12h3',
  close: 'M4 4l8 8M12 4l-8 8',
  plus: 'M8 3v10M3 8h10',
  sun: 'M8 5.2a2.8 2.8 0 1 0 .01 0M8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9',
  moon: 'M13 9.6A5.4 5.4 0 1 1 6.4 3a4.4 4.4 0 0 0 6.6 6.6z',
  exit: 'M9.5 3h-6v10h6M6.5 8h7M11 5.5L13.5 8 11 10.5',
} as const;

export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
