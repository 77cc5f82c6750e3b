import { type FormEvent, type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import { saveAttachments } from '../api/attachments.js';
import { useLogLines } from '../api/log-lines.js';
import { useCommand, useRead } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { type Part, toConversation } from '../domain/conversation.js';
import { formatClock, formatCount, formatDollars } from '../domain/format.js';
import type { LogLine } from '../domain/log-line.js';
import type { Task } from '../domain/status.js';
import { isTextDiff } from '../domain/text-diff.js';
import { AttachedFiles } from './attached-files.js';
import { Markdown } from './markdown.js';
import { Button, Empty, Field, Panel } from './parts.js';
import { TextDiff } from './text-diff.js';

const EVERY_MS = 5_000;
/** The number of latest parts that are shown. */
const SHOWN = 300;

/** The conversation with the coding agent of a task, and a field to talk to its live run. */
export function Conversation({ task }: { task: Task }) {
  const { may } = useWorkspace();
  return (
    <Panel title="Conversation" end={<Spent task={task} />}>
      <div className="stack">
        <Transcript taskId={task.id} />
        {task.runId && <Waiting runId={task.runId} />}
        {task.runId && may('MEMBER') && <MessageForm taskId={task.id} runId={task.runId} />}
      </div>
    </Panel>
  );
}

/** All that was said and done in the runs of a task, oldest first. */
export function Transcript({ taskId }: { taskId: string }) {
  const { lines } = useLogLines(taskId, 'DEBUG');
  const parts = useMemo(() => toConversation(lines), [lines]);
  if (parts.length === 0) return <Empty title="The agent has said nothing yet" small />;
  return (
    <>
      {parts.length > SHOWN && (
        <p className="muted">
          The first {(parts.length - SHOWN).toLocaleString()} parts are in the log only.
        </p>
      )}
      <Parts taskId={taskId} parts={parts.slice(-SHOWN)} />
    </>
  );
}

/** The tokens and the cost of all runs so far. */
function Spent({ task: { id, runId } }: { task: Task }) {
  const runs = useRead(
    ['task', id, 'spent'],
    (api, signal) => {
      const params = { path: { id }, query: { limit: 100 } };
      return api.get('/api/v1/agent-tasks/{id}/runs', { params, signal });
    },
    { every: runId === null ? undefined : EVERY_MS },
  );
  const items = runs.data?.items ?? [];
  const tokens = items.reduce((sum, run) => sum + BigInt(run.usedTokens), 0n);
  const cost = items.reduce((sum, run) => sum + Number(run.usedCostUsd), 0);
  return (
    <span className="muted">
      {formatCount(String(tokens))} tokens, {formatDollars(String(cost))}
    </span>
  );
}

function Parts({ taskId, parts }: { taskId: string; parts: Part[] }) {
  const frame = useRef<HTMLOListElement>(null);
  const [follows, setFollows] = useState(true);
  useEffect(() => {
    if (follows) frame.current?.scrollTo({ top: frame.current.scrollHeight });
  }, [follows, parts]);
  function updateFollowing(): void {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = frame.current ?? {};
    setFollows(scrollHeight - scrollTop - clientHeight < 40);
  }
  return (
    <ol
      ref={frame}
      className="conversation"
      tabIndex={0}
      aria-label="Conversation with the agent"
      onScroll={updateFollowing}
    >
      {parts.map((part) => (
        <li key={part.line.id} className={`part ${part.kind}`}>
          <OnePart taskId={taskId} part={part} />
        </li>
      ))}
    </ol>
  );
}

const NAMES = { agent: 'Agent', person: 'Person', note: 'Note', plan: 'Plan' } as const;

function OnePart({ taskId, part }: { taskId: string; part: Part }) {
  const { kind, line } = part;
  if (kind === 'thought') {
    return (
      <details>
        <summary>Reasoning</summary>
        <Said taskId={taskId} line={line} />
      </details>
    );
  }
  if (kind === 'usage') return <p className="muted">{line.text}</p>;
  if (kind === 'tool') {
    return (
      <details>
        <summary dir="auto">{line.text}</summary>
        {line.input && <Said taskId={taskId} line={{ ...line, ...line.input }} />}
        {part.results.map((result) => (
          <Said key={result.id} taskId={taskId} line={result} />
        ))}
        {part.results.length === 0 && <p className="muted">No result yet</p>}
      </details>
    );
  }
  return (
    <>
      <p className="muted">
        {NAMES[kind]} <time dateTime={line.at}>{formatClock(line.at)}</time>
      </p>
      {line.text !== '' && <Said taskId={taskId} line={line} />}
      {line.attachments !== undefined && <AttachedFiles id={line.attachments} />}
    </>
  );
}

function Said({ taskId, line }: { taskId: string; line: LogLine }) {
  const { event, text, leftOut, whole } = line;
  return (
    <div className="said" dir="auto">
      <SaidText event={event} text={text} />
      {leftOut > 0 && <em className="muted"> … {leftOut.toLocaleString()} more characters</em>}
      {whole && <WholeText taskId={taskId} {...whole} />}
    </div>
  );
}

/** Downloads the whole of a text that the log cuts. Its link is made at the click. */
function WholeText({ taskId, ...query }: { taskId: string; runId: string; name: string }) {
  const open = useCommand(
    (api, _: undefined) =>
      api.get('/api/v1/agent-tasks/{id}/artifacts', { params: { path: { id: taskId }, query } }),
    {
      done: ({ items }) => (items.length === 0 ? 'The text is not kept' : 'Download started'),
      changes: [],
      onDone: ({ items: [artifact] }) => {
        if (artifact !== undefined) location.assign(artifact.downloadPath);
      },
    },
  );
  return (
    <p>
      <Button disabled={open.isPending} onClick={() => open.mutate(undefined)}>
        Download the whole text
      </Button>
    </p>
  );
}

const MARKDOWN_EVENTS = ['agent_message', 'agent_thought', 'message_delivered'];

function SaidText({ event, text }: { event: string; text: string }) {
  if (event === 'agent_diff' && isTextDiff(text)) return <TextDiff text={text} />;
  return MARKDOWN_EVENTS.includes(event) ? <Markdown text={text} /> : text;
}

/** The messages that the agent has not received yet. */
function Waiting({ runId }: { runId: string }) {
  const messages = useRead(
    ['run', runId, 'messages'],
    (api, signal) => {
      const params = { path: { runId }, query: { limit: 200 } };
      return api.get('/api/v1/runs/{runId}/messages', { params, signal });
    },
    { every: EVERY_MS },
  );
  const waiting = (messages.data?.items ?? []).filter(
    ({ state, questionId }) => state === 'waiting' && questionId === null,
  );
  if (waiting.length === 0) return null;
  return (
    <p className="muted" role="status">
      {waiting.length === 1 ? '1 message waits' : `${waiting.length} messages wait`} for the end of
      the turn
    </p>
  );
}

function MessageForm({ taskId, runId }: { taskId: string; runId: string }) {
  const [text, setText] = useState('');
  const [interrupts, setInterrupts] = useState(false);
  const [hasFiles, setHasFiles] = useState(false);
  const isEmpty = text.trim() === '' && !hasFiles;
  const files = useRef<HTMLInputElement>(null);
  const send = useCommand(
    async (api, body: { text: string; deliver: 'turn_end' | 'interrupt' }) => {
      const attachments = await saveAttachments(api, [...(files.current?.files ?? [])]);
      const data = attachments === undefined ? {} : { data: { attachments } };
      const params = { path: { runId } };
      return api.post('/api/v1/runs/{runId}/messages', { params, body: { ...body, ...data } });
    },
    {
      done: 'Message sent',
      changes: [
        ['run', runId, 'messages'],
        ['task', taskId],
      ],
      onDone: () => {
        setText('');
        setHasFiles(false);
        if (files.current !== null) files.current.value = '';
      },
    },
  );

  function submit(event?: FormEvent): void {
    event?.preventDefault();
    if (isEmpty || send.isPending) return;
    send.mutate({ text, deliver: interrupts ? 'interrupt' : 'turn_end' });
  }

  function sendByKey(event: KeyboardEvent): void {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
  }

  return (
    <form onSubmit={submit} className="form">
      <Field label="Message to the agent">
        <textarea
          className="input"
          rows={3}
          maxLength={16_000}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={sendByKey}
        />
      </Field>
      <Field label="Files for the agent">
        <input
          ref={files}
          className="input"
          type="file"
          multiple
          onChange={({ target }) => setHasFiles((target.files?.length ?? 0) > 0)}
        />
      </Field>
      <label>
        <input
          type="checkbox"
          checked={interrupts}
          onChange={(event) => setInterrupts(event.target.checked)}
        />{' '}
        Interrupt the current turn
      </label>
      <div>
        <Button type="submit" look="primary" disabled={send.isPending || isEmpty}>
          Send message
        </Button>
      </div>
    </form>
  );
}
