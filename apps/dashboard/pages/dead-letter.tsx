import { Link } from '@tanstack/react-router';
import { type components, describeError } from '#lib/api-client';
import { useCommand, usePages } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { toLabel } from '../components/badge.js';
import { FormDialog } from '../components/form-dialog.js';
import { Ago, Button, Empty, Field, Loaded, Page } from '../components/parts.js';
import { defineColumns, Table } from '../components/table.js';
import { stripControls } from '../domain/format.js';
import { parseInput } from '../domain/task-draft.js';

type Group = components['schemas']['DeadLetterGroup'];
type Replay = components['schemas']['Replay'];

const EVERY_MS = 10_000;

const COLUMNS = defineColumns<Group>([
  {
    id: 'tasks',
    head: 'Tasks',
    width: '64px',
    isNumber: true,
    cell: ({ count, fingerprint }) => (
      <Link to="/tasks" search={{ failureFingerprint: fingerprint }} className="title-link">
        {count.toLocaleString()}
      </Link>
    ),
  },
  {
    id: 'error',
    head: 'Error',
    width: 'minmax(200px, 4fr)',
    cell: ({ error, reason }) => {
      const text = error === null ? null : stripControls(describeError(error));
      return <bdi title={text ?? ''}>{text ?? (reason === null ? '' : toLabel(reason))}</bdi>;
    },
  },
  {
    id: 'type',
    head: 'Type',
    width: 'minmax(80px, 1fr)',
    cell: ({ taskType }) => <bdi className="muted">{stripControls(taskType)}</bdi>,
  },
  {
    id: 'newest',
    head: 'Newest task',
    width: 'minmax(120px, 2fr)',
    cell: ({ newestTaskId, newestTitle }) => (
      <Link to="/tasks/$id" params={{ id: newestTaskId }} className="link">
        <bdi>{stripControls(newestTitle)}</bdi>
      </Link>
    ),
  },
  {
    id: 'at',
    head: 'Failed',
    width: '84px',
    cell: ({ newestFailedAt }) => <Ago at={newestFailedAt} />,
  },
  { id: 'replay', head: 'Actions', width: '88px', cell: (group) => <ReplayGroup group={group} /> },
]);

export function DeadLetterPage() {
  const groups = usePages(
    ['dead-letter'],
    (api, cursor, signal) =>
      api.get('/api/v1/dead-letter', { params: { query: { limit: 100, cursor } }, signal }),
    { every: EVERY_MS },
  );
  return (
    <Page title="Dead letter">
      <Loaded query={groups}>
        {({ pages }) => {
          const rows = pages.flatMap(({ items }) => items);
          return rows.length === 0 ? (
            <Empty title="The dead letter is empty">
              <p>Tasks that failed for good appear here, in groups of the same failure.</p>
            </Empty>
          ) : (
            <Table
              label="Groups of failed tasks"
              columns={COLUMNS}
              rows={rows}
              keyOf={({ fingerprint }) => fingerprint}
              least={680}
            />
          );
        }}
      </Loaded>
      {groups.hasNextPage && (
        <Button onClick={() => void groups.fetchNextPage()}>Show more groups</Button>
      )}
    </Page>
  );
}

function ReplayGroup({ group: { fingerprint, count } }: { group: Group }) {
  const { may } = useWorkspace();
  const replay = useCommand(
    async (api, form: FormData) =>
      api.post('/api/v1/dead-letter/replay', { body: toReplay(fingerprint, form) }),
    {
      done: ({ replayed, matched }) => `${replayed} of ${matched} tasks replayed`,
      changes: [['dead-letter'], ['tasks'], ['tasks-head'], ['overview']],
    },
  );
  if (!may('MEMBER')) return null;
  return (
    <FormDialog
      open="Replay"
      title={count === 1 ? 'Replay this task' : `Replay ${count.toLocaleString()} tasks`}
      confirm="Replay"
      onConfirm={replay.mutate}
    >
      <p>Each gets a new task with the same fields. The failed tasks leave the dead letter.</p>
      <Field label="Changed input" hint="A JSON object. Its keys replace those of inputContext.">
        <textarea className="input" name="input" rows={2} />
      </Field>
      <Field label="Starts per minute" hint="Leave empty to start all at once.">
        <input className="input" name="perMinute" type="number" min={1} max={60_000} />
      </Field>
    </FormDialog>
  );
}

/** @throws FormError if the input is invalid JSON */
function toReplay(failureFingerprint: string, form: FormData): Replay {
  const inputContext = parseInput(String(form.get('input') ?? '').trim());
  const perMinute = Number(form.get('perMinute'));
  return {
    filter: { failureFingerprint },
    ...(inputContext && { inputContext }),
    ...(perMinute > 0 && { perMinute }),
  };
}
