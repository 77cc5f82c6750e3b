import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import type { components } from '#lib/api-client';
import { useCommand, usePages } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { FormDialog } from '../components/form-dialog.js';
import { Ago, Button, Empty, Loaded, Page } from '../components/parts.js';
import { ScheduleFields } from '../components/schedule-fields.js';
import { defineColumns, Table } from '../components/table.js';
import { formatDuration, stripControls } from '../domain/format.js';
import { toScheduleDraft } from '../domain/schedule-draft.js';

export type Schedule = components['schemas']['Schedule'];

const route = getRouteApi('/schedules');
const EVERY_MS = 10_000;

const COLUMNS = defineColumns<Schedule>([
  {
    id: 'name',
    head: 'Name',
    width: 'minmax(140px, 2fr)',
    cell: ({ id, name }) => (
      <Link to="/schedules/$id" params={{ id }} className="title-link">
        <bdi>{stripControls(name)}</bdi>
      </Link>
    ),
  },
  {
    id: 'rule',
    head: 'Rule',
    width: 'minmax(160px, 2fr)',
    cell: (schedule) => <bdi>{formatRule(schedule)}</bdi>,
  },
  {
    id: 'next',
    head: 'Next start',
    width: '104px',
    cell: ({ nextStartAt, pausedAt }) =>
      pausedAt === null ? <Ago at={nextStartAt} /> : <span className="muted">Paused</span>,
  },
  { id: 'failed', head: 'Failed', width: '88px', cell: ({ failedAt }) => <Ago at={failedAt} /> },
  { id: 'overlap', head: 'Overlap', width: '80px', cell: ({ overlap }) => overlap },
  { id: 'age', head: 'Created', width: '88px', cell: ({ createdAt }) => <Ago at={createdAt} /> },
]);

/** The rule in one line: `0 9 * * MON-FRI, Europe/Berlin` or `every 30 s`. */
export function formatRule({ cron, timeZone, everySeconds }: Schedule): string {
  if (cron === null) return `every ${formatDuration(everySeconds ?? 0)}`;
  return [cron, timeZone].filter((part) => part !== null).join(', ');
}

export function SchedulesPage() {
  const { may } = useWorkspace();
  const { text = '' } = route.useSearch();
  const navigate = useNavigate();
  const schedules = usePages(
    ['schedules', text],
    (api, cursor, signal) => {
      const query = { limit: 100, cursor, ...(text !== '' && { text }) };
      return api.get('/api/v1/schedules', { params: { query }, signal });
    },
    { every: EVERY_MS },
  );

  function search(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const typed = String(new FormData(event.currentTarget).get('text')).trim();
    void navigate({ to: '/schedules', search: typed === '' ? {} : { text: typed } });
  }

  return (
    <Page title="Schedules" actions={may('MEMBER') && <CreateSchedule />}>
      <form className="filters" role="search" aria-label="Filters" onSubmit={search}>
        <input
          key={text}
          type="search"
          name="text"
          className="input"
          aria-label="Search names"
          placeholder="Search names"
          maxLength={200}
          defaultValue={text}
        />
        <Button type="submit">Search</Button>
      </form>
      <Loaded query={schedules}>
        {({ pages }) => {
          const rows = pages.flatMap(({ items }) => items);
          if (rows.length === 0 && text !== '')
            return (
              <Empty title="No schedules match this search">
                <Link to="/schedules" search={{}} className="link">
                  Show all schedules
                </Link>
              </Empty>
            );
          return rows.length === 0 ? (
            <Empty title="No schedules yet">
              <p>A schedule creates tasks at the times of a cron expression or an interval.</p>
            </Empty>
          ) : (
            <Table label="Schedules" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
          );
        }}
      </Loaded>
      {schedules.hasNextPage && (
        <Button onClick={() => void schedules.fetchNextPage()}>Show more schedules</Button>
      )}
    </Page>
  );
}

function CreateSchedule() {
  const create = useCommand(
    // An invalid JSON text fails like a refusal of the server, so that the dialog shows it.
    async (api, form: FormData) => api.post('/api/v1/schedules', { body: toScheduleDraft(form) }),
    { done: 'Schedule created', changes: [['schedules']] },
  );
  return (
    <FormDialog
      open="Create schedule"
      look="primary"
      title="Create schedule"
      confirm="Create schedule"
      onConfirm={create.mutate}
    >
      <ScheduleFields />
    </FormDialog>
  );
}
