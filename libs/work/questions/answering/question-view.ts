import type { OnDeadline, QuestionStatus } from '../domain/question.js';
import type { QuestionRow } from '../store/questions.sql.js';

/** A question in the API. QuestionDto describes its fields. */
export interface QuestionView {
  id: string;
  taskId: string;
  taskTitle: string;
  runId: string;
  agentId: string;
  prompt: string;
  choices: string[];
  freeText: boolean;
  status: QuestionStatus;
  askedAt: string;
  deadlineAt: string;
  onDeadline: OnDeadline;
  default: string | null;
  answer: string | null;
  answeredBy: string | null;
  byDefault: boolean;
  closedAt: string | null;
  runWaits: boolean;
}

export function toQuestionView(row: QuestionRow): QuestionView {
  return {
    id: row.id,
    taskId: row.task_id,
    taskTitle: row.task_title,
    runId: row.run_id,
    agentId: row.agent_id,
    prompt: row.prompt,
    choices: row.choices,
    freeText: row.free_text,
    status: row.status,
    askedAt: row.asked_at.toISOString(),
    deadlineAt: row.deadline_at.toISOString(),
    onDeadline: row.on_deadline,
    default: row.default_answer,
    answer: row.answer,
    answeredBy: row.answered_by,
    byDefault: row.status === 'expired' && row.answer !== null,
    closedAt: row.closed_at?.toISOString() ?? null,
    runWaits: row.run_waits,
  };
}
