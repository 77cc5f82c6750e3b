import { getRouteApi, Link } from '@tanstack/react-router';
import { useRead } from '../api/read.js';
import { AgentLink } from '../components/agent-link.js';
import { Badge, wordOf } from '../components/badge.js';
import { Foreign } from '../components/foreign.js';
import { Ago, Empty, Facts, Loaded, Meter, Page, Panel } from '../components/parts.js';
import { TaskActions } from '../components/task-actions.js';
import { TaskExplanation } from '../components/task-explanation.js';
import { TaskGraph } from '../components/task-graph.js';
import { TaskLog } from '../components/task-log.js';
import { TaskQuestion } from '../components/task-question.js';
import { TaskRuns } from '../components/task-runs.js';
import { plainOf, shortCount } from '../domain/format.js';
import type { Task } from '../domain/status.js';
import { DroverProblem } from '#lib/api-client';

const route = getRouteApi('/tasks/$id');
/** Beside the stream, which tells of every change: for what it cannot. */
const EVERY_MS = 15_000;

export function TaskPage() {
  const { id } = route.useParams();
  const task = useRead(
    ['task', id],
    (api, signal) => api.get('/api/v1/agent-tasks/{id}', { params: { path: { id } }, signal }),
    { every: EVERY_MS },
  );
  if (task.data === undefined && isNone(task.error)) return <NoTask />;
  return <Loaded query={task}>{(data) => <OneTask key={id} task={data} />}</Loaded>;
}

/** No task of this workspace, or no id at all. */
function isNone(error: Error | null): boolean {
  return error instanceof DroverProblem && (error.status === 404 || error.status === 400);
}

function NoTask() {
  return (
    <Page title="No such task">
      <Empty title="This workspace has no task with this id">
        <p>
          It may be in another workspace of yours: switch the workspace, and open the address again.
        </p>
        <Link to="/tasks" className="link">
          See the tasks of this workspace
        </Link>
      </Empty>
    </Page>
  );
}

function OneTask({ task }: { task: Task }) {
  return (
    <Page
      title={plainOf(task.title)}
      above={<Link to="/tasks">Tasks</Link>}
      beside={<Badge state={task.status} />}
      actions={<TaskActions task={task} />}
    >
      <div className="split">
        <div className="stack">
          <TaskQuestion task={task} />
          <Outcome task={task} />
          <TaskRuns task={task} />
          <TaskLog taskId={task.id} />
          <TaskGraph task={task} />
          <Texts task={task} />
        </div>
        <div className="stack">
          <TaskExplanation task={task} />
          <TaskFacts task={task} />
        </div>
      </div>
    </Page>
  );
}

/** What came of it: the result, or why there is none. */
function Outcome({ task }: { task: Task }) {
  const { failureReason, abortReason, abortMessage, lastError, summary } = task;
  const why = failureReason ?? abortReason;
  const isBad = task.status === 'FAILED' || task.status === 'ABORTED';
  return (
    <>
      {isBad && (
        <p className="problem" dir="auto">
          {[why && wordOf(why), abortMessage, lastError]
            .filter((text) => text !== null)
            .map((text) => plainOf(text.slice(0, 2_000)))
            .join(': ')}
        </p>
      )}
      {summary && (
        <Panel title="Summary">
          <Foreign text={summary} />
        </Panel>
      )}
      {task.outputResult && (
        <Panel title="Result">
          <Foreign value={task.outputResult} />
        </Panel>
      )}
    </>
  );
}

function TaskFacts({ task }: { task: Task }) {
  return (
    <Panel title="Task">
      <Facts
        items={[
          [
            'Progress',
            <>
              {task.progressPercent} %{task.currentStep && `, ${plainOf(task.currentStep)}`}
              <Meter percent={task.progressPercent} label="Progress" />
            </>,
          ],
          ['Type', plainOf(task.taskType)],
          ['Priority', task.priority],
          ['Agent', task.agentId && <AgentLink id={task.agentId} />],
          ['Needs', plainOf(task.requiredCapabilities.join(', ')) || null],
          ['Tags', task.tags.length === 0 ? null : plainOf(task.tags.join(', '))],
          ['Attempts', `${task.retryCount} of ${task.maxRetries} retries used`],
          ['Next try', task.retryAt && <Ago at={task.retryAt} />],
          ['Tokens', `${shortCount(task.estimatedTokens)} estimated (${task.estimateSource})`],
          ['Created', <Ago at={task.createdAt} />],
          ['Started', task.startedAt && <Ago at={task.startedAt} />],
          ['Ended', endOf(task) && <Ago at={endOf(task)} />],
          ['Paused by', task.pausedBy && plainOf(task.pausedBy)],
          [
            'Made by task',
            task.parentTaskId && (
              <Link to="/tasks/$id" params={{ id: task.parentTaskId }} className="link">
                Parent
              </Link>
            ),
          ],
          ['Id', <code>{task.id}</code>],
        ]}
      />
    </Panel>
  );
}

function endOf({ completedAt, failedAt, abortedAt }: Task): string | null {
  return completedAt ?? failedAt ?? abortedAt;
}

function Texts({ task }: { task: Task }) {
  const parts: [string, unknown][] = [
    ['Description', task.description],
    ['Input', task.inputContext],
    ['Checkpoint', task.checkpointData],
    ['Metadata', task.metadata],
  ];
  const shown = parts.filter(([, value]) => value !== null);
  if (shown.length === 0) return null;
  return (
    <Panel title="What the agent has">
      {shown.map(([name, value]) => (
        <details key={name} open={name === 'Checkpoint' || name === 'Description'}>
          <summary>{name}</summary>
          {typeof value === 'string' ? <Foreign text={value} /> : <Foreign value={value} />}
        </details>
      ))}
    </Panel>
  );
}
