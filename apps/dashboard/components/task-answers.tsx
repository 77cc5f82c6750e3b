import { useTaskQuestions } from '../api/task-runs.js';
import type { Task } from '../domain/status.js';
import { Markdown } from './markdown.js';
import { Ago, Panel } from './parts.js';

const ENDS = { expired: 'Nobody answered in time', cancelled: 'The task ended before an answer' };

/** The closed questions of the task with their answers, oldest first. */
export function TaskAnswers({ task: { id } }: { task: Task }) {
  const questions = useTaskQuestions(id);
  const closed = (questions.data ?? []).filter(({ status }) => status !== 'open');
  if (closed.length === 0) return null;
  return (
    <Panel title="Questions and answers">
      <ol className="stack">
        {closed.map(({ id: question, prompt, answer, byDefault, status, closedAt }) => (
          <li key={question} className="stack">
            <Markdown text={prompt} />
            <div className="answer">
              <p className="muted">
                {answer === null ? ENDS[status as keyof typeof ENDS] : 'Answer'}
                {byDefault && ' by default'}, <Ago at={closedAt} />
              </p>
              {answer !== null && <Markdown text={answer} />}
            </div>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
