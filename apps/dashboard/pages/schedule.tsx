import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { createContext, useContext } from 'react';
import type { components } from '#lib/api-client';
import { useCommand, usePages, useRead } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { toLabel } from '../components/badge.js';
import { Foreign } from '../components/foreign.js';
import { FormDialog, ifMatch } from '../components/form-dialog.js';
import { Ago, Button, Empty, Facts, Field, Loaded, Page, Panel } from '../components/parts.js';
import { DueTimes, PolicyFields, RuleFields } from '../components/schedule-fields.js';
import { defineColumns, Table } from '../components/table.js';
import { TaskBadge } from '../components/task-badge.js';
import { formatExact, stripControls } from '../domain/format.js';
import type { Task } from '../domain/status.js';
import { toScheduleChange } from '../domain/schedule-draft.js';
import { formatRule, type Schedule } from './schedules.js';

type Occurrence = components['schemas']['ScheduleOccurrence'];

const route = getRouteApi('/schedules/$id');
const EVERY_MS = 5_000;
/** The number of tasks whose titles are read. The others are links without a title. */
const LISTED = 100;

export function SchedulePage() {
  const { id } = route.useParams();
  const schedule = useRead(
    ['schedule', id],
    (api, signal) => api.get('/api/v1/schedules/{id}', { params: { path: { id } }, signal }),
    { every: EVERY_MS },
  );
  return <Loaded query={schedule}>{(data) => <OneSchedule schedule={data} />}</Loaded>;
}

function OneSchedule({ schedule }: { schedule: Schedule }) {
  const { may } = useWorkspace();
  const { id, name, pausedAt, pauseReason } = schedule;
  return (
    <Page
      isThing
      title={stripControls(name)}
      above={<Link to="/schedules">Schedules</Link>}
      actions={
        <>
          <Link to="/tasks" search={{ scheduleId: id }} className="button">
            Show tasks
          </Link>
          {may('MEMBER') && <Actions schedule={schedule} />}
        </>
      }
    >
      {pausedAt !== null && (
        <p className="banner" role="status">
          Paused&nbsp;
          <Ago at={pausedAt} />
          {pauseReason !== null && (
            <>
              : <bdi>{stripControls(pauseReason)}</bdi>
            </>
          )}
        </p>
      )}
      <div className="split">
        <div className="stack">
          <Occurrences id={id} />
          <Panel title="Tasks of a due time">
            <Foreign text={JSON.stringify(schedule.tasks, null, 2)} />
          </Panel>
        </div>
        <div className="stack">
          <NextDueTimes schedule={schedule} />
          <Panel title="Settings">
            <Facts
              items={[
                ['Rule', <bdi>{formatRule(schedule)}</bdi>],
                ['Unfinished tasks', toLabel(schedule.overlap)],
                ['Missed due times', toLabel(schedule.missed)],
                ['Jitter', schedule.jitterSeconds > 0 && `up to ${schedule.jitterSeconds} s`],
                ['Created', <Ago at={schedule.createdAt} />],
                ['Changed', <Ago at={schedule.updatedAt} />],
                ['ID', <code>{id}</code>],
              ]}
            />
          </Panel>
        </div>
      </div>
    </Page>
  );
}

function Actions({ schedule }: { schedule: Schedule }) {
  const { id, pausedAt } = schedule;
  const isPaused = pausedAt !== null;
  const navigate = useNavigate();
  const params = { path: { id } };
  const changes = [['schedules'], ['schedule', id]];
  const run = useCommand((api) => api.post('/api/v1/schedules/{id}/run', { params }), {
    done: 'Tasks created',
    changes: [...changes, ['tasks'], ['tasks-head']],
  });
  const pause = useCommand(
    (api, form: FormData) => {
      const reason = String(form.get('reason')).trim();
      return api.post('/api/v1/schedules/{id}/pause', { params, body: reason ? { reason } : {} });
    },
    { done: 'Schedule paused', changes },
  );
  const resume = useCommand((api) => api.post('/api/v1/schedules/{id}/resume', { params }), {
    done: 'Schedule resumed',
    changes,
  });
  const remove = useCommand((api) => api.delete('/api/v1/schedules/{id}', { params }), {
    done: 'Schedule deleted',
    changes: [['schedules']],
    onDone: () => void navigate({ to: '/schedules' }),
  });
  return (
    <>
      <Button disabled={run.isPending} onClick={() => run.mutate(undefined)}>
        Run now
      </Button>
      {isPaused ? (
        <Button disabled={resume.isPending} onClick={() => resume.mutate(undefined)}>
          Resume
        </Button>
      ) : (
        <FormDialog open="Pause" title="Pause schedule" confirm="Pause" onConfirm={pause.mutate}>
          <p>No due time starts until somebody resumes it. Its tasks continue.</p>
          <Field label="Reason">
            <input className="input" name="reason" maxLength={1000} />
          </Field>
        </FormDialog>
      )}
      <EditSchedule schedule={schedule} />
      <FormDialog
        open="Delete"
        look="danger"
        title="Delete schedule"
        confirm="Delete"
        onConfirm={(_, callbacks) => remove.mutate(undefined, callbacks)}
      >
        <p>Its tasks stay.</p>
      </FormDialog>
    </>
  );
}

function EditSchedule({ schedule }: { schedule: Schedule }) {
  const { id, tasks, version } = schedule;
  const change = useCommand(
    async (api, form: FormData) =>
      api.patch('/api/v1/schedules/{id}', {
        params: { path: { id }, header: ifMatch(form) },
        body: toScheduleChange(form, schedule),
      }),
    { done: 'Schedule changed', changes: [['schedules'], ['schedule', id]] },
  );
  return (
    <FormDialog
      open="Edit schedule"
      title="Edit schedule"
      confirm="Save changes"
      version={version}
      onConfirm={change.mutate}
    >
      <RuleFields of={schedule} />
      <PolicyFields of={schedule} />
      <Field label="Tasks" hint="A JSON list, as in POST /agent-tasks/batch.">
        <textarea
          className="input mono"
          name="tasks"
          rows={8}
          required
          spellCheck={false}
          defaultValue={JSON.stringify(tasks, null, 2)}
        />
      </Field>
    </FormDialog>
  );
}

function NextDueTimes({ schedule: { id, version } }: { schedule: Schedule }) {
  const times = useRead(
    ['schedule', id, 'due-times', version],
    (api, signal) =>
      api.get('/api/v1/schedules/{id}/due-times', { params: { path: { id } }, signal }),
    { every: 60_000 },
  );
  return (
    <Panel title="Next due times">
      <Loaded query={times}>{({ items }) => <DueTimes times={items} />}</Loaded>
    </Panel>
  );
}

const COLUMNS = defineColumns<Occurrence>([
  {
    id: 'due',
    head: 'Due',
    width: 'minmax(170px, 1fr)',
    cell: ({ dueAt, manual }) => (
      <time dateTime={dueAt}>
        {formatExact(dueAt)}
        {manual && ' (by hand)'}
      </time>
    ),
  },
  {
    id: 'outcome',
    head: 'Outcome',
    width: '96px',
    cell: ({ outcome }) => toLabel(outcome),
  },
  {
    id: 'task',
    head: 'Task',
    width: 'minmax(120px, 2fr)',
    cell: ({ taskId, reason, detail }) =>
      taskId === null ? (
        <bdi className="muted">{stripControls(detail ?? reason ?? '')}</bdi>
      ) : (
        <TaskOf id={taskId} />
      ),
  },
]);

type ListedTask = Pick<Task, 'title' | 'status' | 'retryAt' | 'pausedFor' | 'abortReason'>;

/** The title and the status of the first task of a due time. */
function TaskOf({ id }: { id: string }) {
  const task = useContext(TasksContext)?.get(id);
  return (
    <>
      {task && <TaskBadge task={task} />}{' '}
      <Link to="/tasks/$id" params={{ id }} className="link">
        <bdi>{stripControls(task?.title ?? 'Show task')}</bdi>
      </Link>
    </>
  );
}

/** The latest tasks of the schedule, by id. */
const TasksContext = createContext<ReadonlyMap<string, ListedTask> | undefined>(undefined);

function useTasksOf(scheduleId: string) {
  const tasks = useRead(
    ['schedule', scheduleId, 'tasks'],
    async (api, signal) => {
      const params = { query: { scheduleId, limit: LISTED } };
      const { items } = await api.get('/api/v1/agent-tasks', { params, signal });
      return new Map(
        items.map(({ id, title, status, retryAt, pausedFor, abortReason }) => [
          id,
          { title, status, retryAt, pausedFor, abortReason },
        ]),
      );
    },
    { every: EVERY_MS },
  );
  return tasks.data;
}

function Occurrences({ id }: { id: string }) {
  const occurrences = usePages(
    ['schedule', id, 'occurrences'],
    (api, cursor, signal) => {
      const params = { path: { id }, query: { limit: 50, cursor } };
      return api.get('/api/v1/schedules/{id}/occurrences', { params, signal });
    },
    { every: EVERY_MS },
  );
  const tasks = useTasksOf(id);
  return (
    <Panel title="Past due times" flush>
      <Loaded query={occurrences}>
        {({ pages }) => {
          const rows = pages.flatMap(({ items }) => items);
          if (rows.length === 0) return <Empty title="It was not due yet" small />;
          return (
            <TasksContext value={tasks}>
              <Table
                label="Past due times"
                columns={COLUMNS}
                rows={rows}
                keyOf={({ dueAt, manual, createdAt }) => `${dueAt} ${manual} ${createdAt}`}
              />
            </TasksContext>
          );
        }}
      </Loaded>
      {occurrences.hasNextPage && (
        <Button onClick={() => void occurrences.fetchNextPage()}>Show more due times</Button>
      )}
    </Panel>
  );
}
