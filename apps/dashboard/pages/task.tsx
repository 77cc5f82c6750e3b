import { getRouteApi, Link, Navigate } from '@tanstack/react-router';
import { useRead } from '../api/read.js';
import { TaskAttachments } from '../components/attached-files.js';
import { toLabel } from '../components/badge.js';
import { Conversation } from '../components/conversation.js';
import { Foreign } from '../components/foreign.js';
import { Markdown } from '../components/markdown.js';
import { Empty, Loaded, Page, Panel } from '../components/parts.js';
import { TaskActions } from '../components/task-actions.js';
import { TaskAnswers } from '../components/task-answers.js';
import { TaskBadge } from '../components/task-badge.js';
import { TaskArtifacts } from '../components/task-artifacts.js';
import { TaskExplanation } from '../components/task-explanation.js';
import { TaskFacts } from '../components/task-facts.js';
import { TaskGraph } from '../components/task-graph.js';
import { TaskLog } from '../components/task-log.js';
import { TaskPhases } from '../components/task-phases.js';
import { TaskQuestion } from '../components/task-question.js';
import { TaskResult } from '../components/task-result.js';
import { TaskRuns } from '../components/task-runs.js';
import { stripControls } from '../domain/format.js';
import type { Task } from '../domain/status.js';
import { describeError, DroverProblem } from '#lib/api-client';

const route = getRouteApi('/tasks/$id');
/** Polls for changes that the stream does not report. */
const EVERY_MS = 15_000;

export function TaskPage() {
  const { id } = route.useParams();
  const task = useRead(
    ['task', id],
    (api, signal) => api.get('/api/v1/agent-tasks/{id}', { params: { path: { id } }, signal }),
    { every: EVERY_MS },
  );
  const candidates = candidatesOf(task.error);
  if (candidates !== undefined) return <SeveralTasks digits={id} candidates={candidates} />;
  if (task.data === undefined && isNotFound(task.error)) return <NoTask />;
  // The address had the first digits of the id only. Events name whole ids.
  if (task.data !== undefined && task.data.id !== id)
    return <Navigate to="/tasks/$id" params={{ id: task.data.id }} replace />;
  return <Loaded query={task}>{(data) => <OneTask key={id} task={data} />}</Loaded>;
}

/** Whether the workspace has no such task, or the ID is malformed. */
function isNotFound(error: Error | null): boolean {
  return error instanceof DroverProblem && (error.status === 404 || error.status === 400);
}

/** The ids that begin with the digits in the address, if there are several. */
function candidatesOf(error: Error | null): string[] | undefined {
  if (!(error instanceof DroverProblem) || error.code !== 'ambiguous_id') return undefined;
  return (error.problem as { candidates?: string[] }).candidates;
}

function SeveralTasks({ digits, candidates }: { digits: string; candidates: string[] }) {
  return (
    <Page title="Several tasks">
      <Empty title={`Several ids begin with ${digits}`}>
        <ul>
          {candidates.map((id) => (
            <li key={id}>
              <Link to="/tasks/$id" params={{ id }} className="link mono">
                {id}
              </Link>
            </li>
          ))}
        </ul>
        <Link to="/tasks" search={{ idPrefix: digits }} className="link">
          Show all of them
        </Link>
      </Empty>
    </Page>
  );
}

function NoTask() {
  return (
    <Page title="Task not found">
      <Empty title="This workspace has no task with this ID">
        <p>
          The task may be in another workspace. Switch the workspace, then open the address again.
        </p>
        <Link to="/tasks" className="link">
          View the tasks of this workspace
        </Link>
      </Empty>
    </Page>
  );
}

function OneTask({ task }: { task: Task }) {
  return (
    <Page
      isThing
      title={stripControls(task.title)}
      above={<Link to="/tasks">Tasks</Link>}
      beside={<TaskBadge task={task} />}
      actions={<TaskActions task={task} />}
    >
      <div className="split">
        <div className="stack">
          <TaskQuestion task={task} />
          <Outcome task={task} />
          <TaskPhases task={task} />
          {task.agent !== null && <Conversation task={task} />}
          <TaskAttachments id={task.inputContext?.['attachments']} />
          <TaskAnswers task={task} />
          <TaskArtifacts task={task} />
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

/** The result of the task, or the reason why there is none. */
function Outcome({ task }: { task: Task }) {
  const { failureReason, abortReason, abortMessage, lastError, summary } = task;
  // The sentence of the last error says that retries are exhausted.
  const why = failureReason === 'retries_exhausted' ? null : (failureReason ?? abortReason);
  const isBad = task.status === 'FAILED' || task.status === 'ABORTED';
  return (
    <>
      {isBad && (
        <p className="problem" dir="auto">
          {[why && toLabel(why), abortMessage, lastError && describeError(lastError)]
            .filter((text) => text !== null)
            .map((text) => stripControls(text.slice(0, 2_000)))
            .join(': ')}
        </p>
      )}
      {summary && (
        <Panel title="Summary">
          <Markdown text={summary} />
        </Panel>
      )}
      {task.outputResult && (
        <Panel title="Result">
          <TaskResult value={task.outputResult} />
        </Panel>
      )}
    </>
  );
}

const MARKDOWN_TEXTS = ['Description', 'Instructions'];
const OPEN_TEXTS = [...MARKDOWN_TEXTS, 'Checkpoint'];

function TaskText({ name, value }: { name: string; value: unknown }) {
  if (typeof value !== 'string') return <Foreign value={value} />;
  return MARKDOWN_TEXTS.includes(name) ? <Markdown text={value} /> : <Foreign text={value} />;
}

function Texts({ task }: { task: Task }) {
  const parts: [string, unknown][] = [
    ['Description', task.description],
    ['Instructions', task.instructions],
    ['Acceptance', task.acceptanceScript],
    ['Input', task.inputContext],
    ['Checkpoint', task.checkpointData],
    ['Metadata', task.metadata],
  ];
  const present = parts.filter(([, value]) => value !== null);
  if (present.length === 0) return null;
  return (
    <Panel title="Task data">
      {present.map(([name, value]) => (
        <details key={name} open={OPEN_TEXTS.includes(name)}>
          <summary>{name}</summary>
          <TaskText name={name} value={value} />
        </details>
      ))}
    </Panel>
  );
}
