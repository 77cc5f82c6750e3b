import { Injectable } from '@nestjs/common';
import { Database, firstRow, type Transaction } from '#lib/database';
import { DroverError, newId } from '#lib/kernel';
import { type Checkpoint, type Reporter, refuseReport, RunMessages, RunSecrets } from '#lib/runs';
import { writeSecrets } from '#lib/secrets';
import {
  applyTransitions,
  legalTaskTransitions,
  type LockedTask,
  lockLeasedTask,
} from '#lib/transitions';
import { WakeUps } from '#lib/valkey';
import {
  type Answerable,
  answerableOf,
  MAX_PROMPT,
  MAX_QUESTIONS,
  MAX_WAITED_FOR,
  type QuestionRequest,
} from '../domain/question.js';
import { cancelWaitedFor, insertQuestion } from '../store/ask.sql.js';
import { countQuestions, questionOfRun, waitedForByRun } from '../store/questions.sql.js';
import { type QuestionView, toQuestionView } from '../answering/question-view.js';

/** The end reason of a run that asked. */
export const ASKED = 'question';

const ASK_WITHOUT_WAITING =
  'Only a coding agent can wait for the answer. Ask without `runWaits`: the run ends, and the next ' +
  'run gets the answer.';

/** A question as stored, with the checkpoint to resume from. */
interface Asked extends Omit<QuestionRequest, keyof Answerable>, Answerable {
  checkpoint: Checkpoint;
}

/** Lets runs ask people. */
@Injectable()
export class QuestionAsking {
  constructor(
    private readonly database: Database,
    private readonly secrets: RunSecrets,
    private readonly messages: RunMessages,
    private readonly wakeUps: WakeUps,
  ) {}

  /**
   * Stores the question, ends the run and pauses its task, all or nothing. With `runWaits` the run
   * stays live, and an earlier question for which it waits is cancelled. The same run gets the same
   * question for the same words.
   *
   * @throws DroverError `validation_failed`, `run_not_found`, `stale_run`, `illegal_transition`,
   *   `too_many_questions`, `run_hears_no_messages`
   */
  async ask(by: Reporter, request: QuestionRequest): Promise<QuestionView> {
    const answerable = answerableOf(request, Date.now());
    const asked = await this.seal(by, request, answerable);
    if (asked.runWaits === true) return this.askAndWait(by, asked);
    const asking = this.database.tenant(by.workspaceId).transaction(async (tx) => {
      const task = await firstRow(tx, lockLeasedTask, [by.workspaceId, by.runId, by.agentId]);
      if (task) await this.rest(tx, by, task, asked);
      return task !== undefined;
    });
    const isNew = await this.secrets.writtenAtEnd(by, asking);
    // Its agent has room for another run.
    if (isNew) this.wakeUps.coordinator();
    return this.ofRun(by, asked.prompt);
  }

  /**
   * Cancels the open question for which the run waits, if there is one.
   *
   * @throws DroverError `run_not_found`, `stale_run`
   */
  async cancel(by: Reporter): Promise<{ cancelled: number }> {
    const { workspaceId, runId } = by;
    const cancelling = this.database.tenant(workspaceId).transaction(async (tx) => {
      const task = await firstRow(tx, lockLeasedTask, [workspaceId, runId, by.agentId]);
      if (!task) return undefined;
      const cancelled = await tx.rows(cancelWaitedFor, [workspaceId, task.id, runId]);
      return { cancelled: cancelled.length };
    });
    return (await cancelling) ?? refuseReport(this.database, by);
  }

  private async askAndWait(by: Reporter, asked: Asked): Promise<QuestionView> {
    const { workspaceId, runId } = by;
    const asking = this.database.tenant(workspaceId).transaction(async (tx) => {
      const task = await firstRow(tx, lockLeasedTask, [workspaceId, runId, by.agentId]);
      if (!task) return undefined;
      if (!(await this.messages.areHeard(tx, workspaceId, runId)))
        throw new DroverError('run_hears_no_messages', { detail: ASK_WITHOUT_WAITING });
      const open = await firstRow(tx, waitedForByRun, [workspaceId, task.id, runId]);
      if (open?.prompt === asked.prompt) return open;
      await this.store(tx, by, task, asked);
      return firstRow(tx, waitedForByRun, [workspaceId, task.id, runId]);
    });
    const row = await asking;
    return row ? toQuestionView(row) : refuseReport(this.database, by);
  }

  private async ofRun(by: Reporter, prompt: string): Promise<QuestionView> {
    const params = [by.workspaceId, by.runId, by.agentId];
    const row = await firstRow(this.database.tenant(by.workspaceId), questionOfRun, params);
    if (row?.prompt !== prompt) return refuseReport(this.database, by);
    return toQuestionView(row);
  }

  /**
   * Events contain questions, so secrets in them are hidden. A choice that is a secret could no
   * longer be chosen.
   */
  private async seal(
    by: Reporter,
    request: QuestionRequest,
    answerable: Answerable,
  ): Promise<Asked> {
    const safe = await this.secrets.clean(by, { ...request, ...answerable });
    const errors = answerable.choices
      .map((text, index) => ({ field: `choices[${index}]`, isSafe: safe.choices[index] === text }))
      .concat({ field: 'default', isSafe: safe.default === request.default })
      .filter(({ isSafe }) => !isSafe)
      .map(({ field }) => ({ field, message: 'must not hold a secret' }));
    // Redaction can lengthen it.
    if (Array.from(safe.prompt).length > MAX_PROMPT) {
      const message = `must have at most ${MAX_PROMPT} characters after its secrets are redacted`;
      errors.push({ field: 'prompt', message });
    }
    if (errors.length > 0) throw new DroverError('validation_failed', { errors });
    return safe;
  }

  /** Stores the question in place of one for which the run waits. */
  private async store(tx: Transaction, by: Reporter, task: LockedTask, asked: Asked) {
    refuseResting(task);
    const { workspaceId, runId, actor } = by;
    const { runWaits = false } = asked;
    const counted = await firstRow(tx, countQuestions, [workspaceId, task.id, runWaits]);
    const most = runWaits ? MAX_WAITED_FOR : MAX_QUESTIONS;
    if ((counted?.count ?? 0) >= most) throw new DroverError('too_many_questions');
    await tx.rows(cancelWaitedFor, [workspaceId, task.id, runId]);
    const { prompt, choices, freeText, deadlineSeconds, deadlineAt, onDeadline } = asked;
    await tx.rows(insertQuestion, [
      workspaceId,
      newId(),
      task.id,
      runId,
      by.agentId,
      prompt,
      choices,
      freeText,
      deadlineSeconds ?? null,
      deadlineAt ?? null,
      onDeadline,
      asked.default ?? null,
      runWaits,
      actor.kind,
      actor.id,
    ]);
  }

  private async rest(tx: Transaction, by: Reporter, task: LockedTask, asked: Asked): Promise<void> {
    await this.store(tx, by, task, asked);
    const { workspaceId, runId, actor } = by;
    const { text, originals } = asked.checkpoint;
    const transition = {
      workspaceId,
      taskId: task.id,
      actor,
      to: 'PAUSED' as const,
      pausedFor: 'question' as const,
      reason: ASKED,
      message: 'It waits for an answer to its question',
      checkpointData: text === null ? undefined : (JSON.parse(text) as unknown),
      run: { runId, to: 'RELEASED' as const, endReason: ASKED },
    };
    await applyTransitions(tx, [transition]);
    for (const [sql, params] of writeSecrets(workspaceId, originals)) await tx.rows(sql, params);
  }
}

/**
 * A paused run must release its task, and a run past its deadline has timed out. Neither can ask
 * instead.
 */
function refuseResting({ status, past_deadline: isLate }: LockedTask): void {
  if (status !== 'PAUSED' && isLate !== true) return;
  const why = status === 'PAUSED' ? 'The task is paused' : 'The time of the run is over';
  throw new DroverError('illegal_transition', {
    detail: `${why}: it asks no question now.`,
    members: { current: status, requested: 'PAUSED', legal: legalTaskTransitions(status) },
  });
}
