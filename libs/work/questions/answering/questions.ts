import { Injectable } from '@nestjs/common';
import { Database, firstRow, type Transaction } from '#lib/database';
import {
  type Actor,
  actorOf,
  type Caller,
  COORDINATOR,
  decodeCursor,
  DroverError,
  idOfCursor,
  isUuid,
  malformedCursor,
  type Page,
  toPage,
} from '#lib/kernel';
import { RunMessages } from '#lib/runs';
import { type ColumnOfTask, SecretValues, TaskSecrets, writeSecrets } from '#lib/secrets';
import {
  MAX_ANSWERS,
  reconsiderPrerequisites,
  requireReadable,
  type TaskAnswer,
} from '#lib/task-manager';
import { applyTransitions, lockTasks, type Transition } from '#lib/transitions';
import { WakeUps } from '#lib/valkey';
import { type QuestionStatus, requireAnswer } from '../domain/question.js';
import { answerQuestion, answersOfTask, type ClosedRow, expireQuestion } from './close.sql.js';
import {
  newestQuestions,
  questionById,
  type QuestionRow,
  urgentQuestions,
} from '../store/questions.sql.js';
import { type QuestionView, toQuestionView } from './question-view.js';

export interface QuestionList {
  status?: QuestionStatus;
  taskId?: string;
  limit: number;
  cursor?: string;
}

/** The failure reason of a task whose question nobody answered. */
export const QUESTION_EXPIRED = 'question_expired';

/** Questions of runs: read, answered, and closed at their deadlines. */
@Injectable()
export class Questions {
  constructor(
    private readonly database: Database,
    private readonly secrets: TaskSecrets,
    private readonly messages: RunMessages,
    private readonly wakeUps: WakeUps,
  ) {}

  /**
   * Open questions by deadline, others by age, newest first.
   *
   * A run reads those of its task, with the answers.
   *
   * @throws DroverError `malformed_cursor`, `task_not_found`
   */
  async list(caller: Caller, request: QuestionList): Promise<Page<QuestionView>> {
    const { workspaceId } = caller;
    const { status = null, limit, cursor } = request;
    const { taskId = caller.kind === 'run' ? caller.taskId : null } = request;
    const tenant = this.database.tenant(workspaceId);
    if (taskId !== null) await requireReadable(tenant, caller, taskId);
    if (status === 'open') {
      const after = urgentAfter(cursor);
      const rows = await tenant.rows(urgentQuestions, [workspaceId, taskId, ...after, limit + 1]);
      const keyOf = (row: QuestionRow) => [row.deadline_at.toISOString(), row.id];
      return toPage(rows, limit, keyOf, toQuestionView);
    }
    const params = [workspaceId, status, taskId, idOfCursor(cursor), limit + 1];
    const rows = await tenant.rows(newestQuestions, params);
    return toPage(rows, limit, (row) => [row.id], toQuestionView);
  }

  /** @throws DroverError `question_not_found` */
  async get({ workspaceId }: Caller, id: string): Promise<QuestionView> {
    return toQuestionView(await this.read(workspaceId, id));
  }

  /**
   * Answers a question. Its task returns to its position in the queue with the answer. A run that
   * waits receives it as a message. A late answer counts while nobody has closed the question. The same answer from the same caller is
   * accepted again, because the first acceptance may have been lost.
   *
   * @throws DroverError `question_not_found`, `validation_failed`, `question_closed`
   */
  async answer(caller: Caller, id: string, answer: string): Promise<QuestionView> {
    const { workspaceId } = caller;
    const question = await this.read(workspaceId, id);
    requireAnswer(answer, { choices: question.choices, freeText: question.free_text });
    const actor = actorOf(caller);
    const tenant = this.database.tenant(workspaceId);
    const values = await this.secrets.valuesOfRun(tenant, workspaceId, question.run_id);
    const shown = values.redact(answer);
    const answeredBy = actor.id === null ? actor.kind : `${actor.kind}:${actor.id}`;
    const params = [workspaceId, id, shown, actor.kind, actor.id];
    const answering = tenant.transaction(async (tx): Promise<(() => void) | undefined> => {
      await lockTasks(tx, workspaceId, [question.task_id]);
      const closed = await firstRow(tx, answerQuestion, params);
      if (!closed) {
        const row = await firstRow(tx, questionById, [workspaceId, id]);
        // Two secrets look the same.
        const isRepeated = row?.answer === answer && row.answered_by === answeredBy;
        if (isRepeated && shown === answer) return undefined;
        const members = { state: row?.status ?? 'cancelled', answer: row?.answer ?? null };
        throw new DroverError('question_closed', { members });
      }
      const resumption = { closed, answer, answeredBy, actor, values };
      return this.resume(tx, workspaceId, resumption);
    });
    const wake = await this.secrets.written(answering);
    wake?.();
    return this.get(caller, id);
  }

  /**
   * Closes a question whose deadline has passed. Its task continues with the default, or fails.
   *
   * @returns the call to make after the commit; undefined if somebody else closed it
   */
  async expire(
    tx: Transaction,
    workspaceId: string,
    { id, task_id: taskId }: { id: string; task_id: string },
  ): Promise<(() => void) | undefined> {
    await lockTasks(tx, workspaceId, [taskId]);
    const closed = await firstRow(tx, expireQuestion, [workspaceId, id]);
    if (!closed) return undefined;
    const { answer } = closed;
    if (answer === null) {
      await applyTransitions(tx, [failing(workspaceId, taskId)]);
      return () => this.wakeUps.coordinator();
    }
    const values = SecretValues.NONE;
    const resumption = { closed, answer, answeredBy: null, actor: COORDINATOR, values };
    return this.resume(tx, workspaceId, resumption);
  }

  /** @throws DroverError `question_not_found` */
  private async read(workspaceId: string, id: string): Promise<QuestionRow> {
    const tenant = this.database.tenant(workspaceId);
    const row = await firstRow(tenant, questionById, [workspaceId, id]);
    if (!row) throw new DroverError('question_not_found');
    return row;
  }

  /** @returns the call to make after the commit */
  private async resume(
    tx: Transaction,
    workspaceId: string,
    { closed, answer, answeredBy, actor, values }: Resumption,
  ): Promise<() => void> {
    if (closed.run_waits) {
      const { run_id: runId, agent_id: agentId, id } = closed;
      const sender = answeredBy ?? actor.kind;
      const text = closed.answer ?? answer;
      const told = { runId, agentId, questionId: id, text, sender };
      return this.messages.answer(tx, workspaceId, told);
    }
    const { id: questionId, task_id: taskId, prompt } = closed;
    const answeredAt = closed.closed_at.toISOString();
    const byDefault = answeredBy === null;
    const latest = { questionId, prompt, answer, answeredBy, byDefault, answeredAt };
    const { before, shownOf } = await this.answersBefore(tx, workspaceId, taskId);
    const answers = [...before, latest].slice(-MAX_ANSWERS);
    // The secrets of earlier answers can be those of another agent, or replaced since.
    const hide = (text: string) => values.hide(shownOf.get(text) ?? text);
    const column: ColumnOfTask = {
      workspace_id: workspaceId,
      task_id: taskId,
      column_name: 'answers',
    };
    const { shown, original } = await this.secrets.seal(answers, () => column, {
      isEmpty: false,
      hide,
    });
    const message = byDefault ? 'Nobody answered in time: its default counts' : 'Answered';
    const common = { workspaceId, taskId, actor, message };
    await applyTransitions(tx, [{ ...common, to: 'PENDING', answers: shown }]);
    await tx.rows(reconsiderPrerequisites, [workspaceId, [taskId]]);
    const originals = writeSecrets(workspaceId, [original ?? column]);
    for (const [sql, params] of originals) await tx.rows(sql, params);
    return () => this.wake(workspaceId);
  }

  /**
   * Includes the secrets that can be opened, because the answers are sealed again as one. Has the
   * public form of each answer that contains a secret.
   */
  private async answersBefore(
    tx: Transaction,
    workspaceId: string,
    taskId: string,
  ): Promise<{ before: TaskAnswer[]; shownOf: Map<string, string> }> {
    const found = await firstRow(tx, answersOfTask, [workspaceId, taskId]);
    const shown = found?.answers ?? [];
    const opened = found?.original && (await this.secrets.open(found.original));
    const before = opened?.kind === 'opened' ? (opened.value as TaskAnswer[]) : shown;
    const pairs = before.map(({ answer }, index): [string, string] => [
      answer,
      shown[index]?.answer ?? answer,
    ]);
    return { before, shownOf: new Map(pairs) };
  }

  private wake(workspaceId: string): void {
    this.wakeUps.claims(workspaceId, 1);
    this.wakeUps.coordinator();
  }
}

interface Resumption {
  closed: ClosedRow;
  /** Includes its secrets. */
  answer: string;
  answeredBy: string | null;
  actor: Actor;
  /** Further secrets, wherever they stand. */
  values: SecretValues;
}

function failing(workspaceId: string, taskId: string): Transition {
  const message = 'Nobody answered its question in time';
  return {
    workspaceId,
    taskId,
    to: 'FAILED',
    actor: COORDINATOR,
    reason: QUESTION_EXPIRED,
    message,
    lastError: message,
    level: 'WARN',
  };
}

/** @throws DroverError `malformed_cursor` */
function urgentAfter(cursor: string | undefined): [deadline: string | null, id: string | null] {
  if (cursor === undefined) return [null, null];
  const [deadline, id] = decodeCursor(cursor, ['string', 'string']) as [string, string];
  const at = Date.parse(deadline);
  if (Number.isNaN(at) || new Date(at).toISOString() !== deadline || !isUuid(id))
    throw malformedCursor();
  return [deadline, id];
}
