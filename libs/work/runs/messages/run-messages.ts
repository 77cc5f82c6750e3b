import { Injectable } from '@nestjs/common';
import { Database, firstRow, type SqlRunner, type Transaction } from '#lib/database';
import { type IdempotencyRecord, storeAnswer } from '#lib/http';
import {
  actorOf,
  type AgentCaller,
  type Caller,
  DroverError,
  isUuid,
  newId,
  type Page,
  positionOfCursor,
  toPage,
} from '#lib/kernel';
import { asObject, redactSecrets, TaskSecrets } from '#lib/secrets';
import { lockTasks } from '#lib/transitions';
import { WakeUps } from '#lib/valkey';
import {
  ANSWER,
  MAX_MESSAGE,
  MAX_MESSAGE_DATA,
  MAX_MESSAGES,
  type MessageRequest,
  PLAIN_MESSAGE,
  type RunMessageView,
} from '../domain/run-message.js';
import { refuseReport } from '../reports/report-replay.js';
import type { Reporter } from '../reports/reporter.js';
import {
  addMessage,
  deliverMessages,
  type MessageRow,
  messagesOfRun,
  messageTarget,
  waitingMessages,
} from './run-messages.sql.js';

/** The maximum number of messages in one answer to an agent. */
const MAX_ANSWERED = 20;

/** What an agent has of one of its runs. */
export interface Heard {
  runId: string;
  /** That of the last message; 0 for none. */
  position: number;
  /** Whether it will pause the run after its current turn. */
  pausesAfterTurn?: boolean;
}

/** An answer to a question for which a run waits. */
export interface RunAnswer {
  runId: string;
  agentId: string;
  questionId: string;
  /** Without secrets. */
  text: string;
  sender: string;
}

/** Messages to the coding agents of live runs. They reach their agents with its signals. */
@Injectable()
export class RunMessages {
  constructor(
    private readonly database: Database,
    private readonly secrets: TaskSecrets,
    private readonly wakeUps: WakeUps,
  ) {}

  /**
   * Stores a message for the agent of a live run, without its secrets. A repetition of the request
   * gets the same answer.
   *
   * @throws DroverError `run_not_found`, `run_ended`, `run_hears_no_messages`, `too_many_messages`,
   *   `validation_failed`
   */
  async send(
    caller: Caller,
    runId: string,
    request: MessageRequest,
    record?: IdempotencyRecord,
  ): Promise<RunMessageView> {
    requireContent(request);
    const { workspaceId } = caller;
    const tenant = this.database.tenant(workspaceId);
    const run = await firstRow(tenant, messageTarget, [workspaceId, runId]);
    if (!run) throw new DroverError('run_not_found');
    if (!run.hears) throw new DroverError('run_hears_no_messages');
    if (!run.is_live) throw new DroverError('run_ended');
    const { text, data } = await this.redact(workspaceId, runId, request);
    const actor = actorOf(caller);
    const sender = actor.id === null ? actor.kind : `${actor.kind}:${actor.id}`;
    const { type = PLAIN_MESSAGE, deliver } = request;
    const values = [type, text, data, deliver, null, sender, MAX_MESSAGES];
    const added = await tenant.transaction(async (tx) => {
      const [task] = await lockTasks(tx, workspaceId, [run.task_id]);
      if (task?.run_id !== runId.toLowerCase()) throw new DroverError('run_ended');
      const row = await firstRow(tx, addMessage, [workspaceId, newId(), runId, ...values]);
      const body = row && toView(row);
      if (body) await storeAnswer(tx, workspaceId, record, { status: 201, body });
      return body;
    });
    if (!added) throw new DroverError('too_many_messages');
    this.wakeUps.signals([run.agent_id]);
    return added;
  }

  /**
   * Adds the answer to a question for which the run waits. Under the lock of its task.
   *
   * @returns the call to make after the commit
   */
  async answer(
    tx: Transaction,
    workspaceId: string,
    { runId, agentId, questionId, text, sender }: RunAnswer,
  ): Promise<() => void> {
    const values = [ANSWER, text, null, 'interrupt', questionId, sender, null];
    await tx.rows(addMessage, [workspaceId, newId(), runId, ...values]);
    return () => this.wakeUps.signals([agentId]);
  }

  /** Whether the run's agent hears messages: a coding agent executes its task. */
  async areHeard(runner: SqlRunner, workspaceId: string, runId: string): Promise<boolean> {
    return (await firstRow(runner, messageTarget, [workspaceId, runId]))?.hears === true;
  }

  /** Oldest first. @throws DroverError `run_not_found`, `malformed_cursor` */
  async list(
    { workspaceId }: Caller,
    runId: string,
    { limit, cursor }: { limit: number; cursor?: string },
  ): Promise<Page<RunMessageView>> {
    const after = positionOfCursor(cursor) ?? 0;
    const tenant = this.database.tenant(workspaceId);
    const rows = await tenant.rows(messagesOfRun, [workspaceId, runId, after, limit + 1]);
    if (rows.length === 0 && !(await firstRow(tenant, messageTarget, [workspaceId, runId]))) {
      throw new DroverError('run_not_found');
    }
    return toPage(rows, limit, ({ position }) => [position], toView);
  }

  /** The messages that an agent does not have yet, in their order. */
  async waiting(agent: AgentCaller, heard: readonly Heard[]): Promise<RunMessageView[]> {
    if (heard.length === 0) return [];
    const { workspaceId, agentId } = agent;
    const runs = heard.map(({ runId }) => runId);
    const positions = heard.map(({ position }) => position);
    const params = [workspaceId, agentId, runs, positions, MAX_ANSWERED];
    const rows = await this.database.tenant(workspaceId).rows(waitingMessages, params);
    return rows.map(toView);
  }

  /**
   * The agent's program has received these messages.
   *
   * @throws DroverError `run_not_found`, `stale_run`
   */
  async delivered(by: Reporter, positions: readonly number[]): Promise<{ delivered: number }> {
    const params = [by.workspaceId, by.runId, by.agentId, by.actor.kind, by.actor.id, positions];
    const done = await firstRow(this.database.tenant(by.workspaceId), deliverMessages, params);
    return done ?? refuseReport(this.database, by);
  }

  private async redact(
    workspaceId: string,
    runId: string,
    { text, data }: MessageRequest,
  ): Promise<{ text: string; data: string | null }> {
    const tenant = this.database.tenant(workspaceId);
    const values = await this.secrets.valuesOfRun(tenant, workspaceId, runId);
    // Redaction can lengthen both.
    const hidden = values.redact(text);
    if (Array.from(hidden).length > MAX_MESSAGE) throw tooLong('text', MAX_MESSAGE);
    const shown = data && JSON.stringify(asObject(redactSecrets(data, values)));
    if (shown && shown.length > MAX_MESSAGE_DATA)
      throw tooLong('data', MAX_MESSAGE_DATA, ' as JSON');
    return { text: hidden, data: shown ?? null };
  }
}

/** @throws DroverError `validation_failed` if a message has neither a text nor files */
function requireContent({ text, data }: MessageRequest): void {
  if (text.trim() !== '' || isUuid(data?.['attachments'])) return;
  const message = 'must not be empty unless data.attachments is the UUID of files';
  throw new DroverError('validation_failed', { errors: [{ field: 'text', message }] });
}

function tooLong(field: string, max: number, form = ''): DroverError {
  const message = `must have at most ${max} characters${form} after its secrets are redacted`;
  return new DroverError('validation_failed', { errors: [{ field, message }] });
}

function toView(row: MessageRow): RunMessageView {
  return {
    id: row.id,
    runId: row.run_id,
    position: row.position,
    type: row.type,
    text: row.text,
    data: row.data,
    deliver: row.deliver,
    questionId: row.question_id,
    sender: row.sender,
    state: row.state,
    sentAt: row.sent_at.toISOString(),
    deliveredAt: row.state === 'delivered' ? (row.closed_at?.toISOString() ?? null) : null,
  };
}
