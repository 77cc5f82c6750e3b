import { Link } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import type { components } from '#lib/api-client';
import { useCommand } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { plainOf } from '../domain/format.js';
import { Foreign } from './foreign.js';
import { Ago, Button, Field, Panel } from './parts.js';

type Question = components['schemas']['Question'];

/** What an agent asks, with a button for each choice and a field where any text will do. */
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
      done: 'The task goes on with your answer.',
      changes: [['questions'], ['task', taskId], ['tasks']],
    },
  );

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    answer.mutate(String(new FormData(event.currentTarget).get('answer')));
  }

  const otherwise =
    onDeadline === 'default'
      ? `“${plainOf(question.default ?? '')}” counts then`
      : 'the task fails then';
  return (
    <Panel
      title={plainOf(question.taskTitle)}
      end={
        <Link to="/tasks/$id" params={{ id: taskId }} className="link">
          Its task
        </Link>
      }
    >
      <div className="stack">
        <Foreign text={prompt} />
        <p className="muted">
          Asked <Ago at={question.askedAt} />, to be answered <Ago at={deadlineAt} />:{' '}
          <bdi>{otherwise}</bdi>.
        </p>
        {may('MEMBER') && choices.length > 0 && (
          <div className="chips">
            {choices.map((choice) => (
              <Button
                key={choice}
                disabled={answer.isPending}
                onClick={() => answer.mutate(choice)}
              >
                <bdi>{plainOf(choice)}</bdi>
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
                Answer
              </Button>
            </div>
          </form>
        )}
      </div>
    </Panel>
  );
}
