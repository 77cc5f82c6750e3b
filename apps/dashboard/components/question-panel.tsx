import { Link } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import type { components } from '#lib/api-client';
import { useCommand } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { stripControls } from '../domain/format.js';
import { Markdown } from './markdown.js';
import { Ago, Button, Field, Panel } from './parts.js';

type Question = components['schemas']['Question'];

/** Shows a question with a button for each choice, and a field if free text is allowed. */
export function QuestionPanel({ question }: { question: Question }) {
  const { may } = useWorkspace();
  const { id, taskId, prompt, choices, freeText, deadlineAt, onDeadline } = question;
  const answer = useCommand(
    (api, text: string) =>
      api.post('/api/v1/questions/{id}/answer', {
        params: { path: { id } },
        body: { answer: text },
      }),
    {
      done: question.runWaits ? 'Answer sent' : 'Answer sent, task resumed',
      changes: [['questions'], ['task', taskId], ['tasks']],
    },
  );

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    answer.mutate(String(new FormData(event.currentTarget).get('answer')));
  }

  const fallback =
    onDeadline === 'default'
      ? `the answer is “${stripControls(question.default ?? '')}”`
      : 'the task fails';
  return (
    <Panel
      title={stripControls(question.taskTitle)}
      end={
        <Link to="/tasks/$id" params={{ id: taskId }} className="link">
          View task
        </Link>
      }
    >
      <div className="stack">
        <Markdown text={prompt} />
        <p className="muted">
          Asked <Ago at={question.askedAt} />, due <Ago at={deadlineAt} />. Without an answer,{' '}
          <bdi>{fallback}</bdi>.
        </p>
        {may('MEMBER') && choices.length > 0 && (
          <div className="chips">
            {choices.map((choice) => (
              <Button
                key={choice}
                disabled={answer.isPending}
                onClick={() => answer.mutate(choice)}
              >
                <bdi>{stripControls(choice)}</bdi>
              </Button>
            ))}
          </div>
        )}
        {may('MEMBER') && freeText && (
          <form onSubmit={submit} className="form">
            <Field label="Answer">
              <input className="input" name="answer" required />
            </Field>
            <div>
              <Button type="submit" look="primary" disabled={answer.isPending}>
                Send answer
              </Button>
            </div>
          </form>
        )}
      </div>
    </Panel>
  );
}
