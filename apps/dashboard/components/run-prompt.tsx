import { useState } from 'react';
import { DroverProblem } from '#lib/api-client';
import { useRead } from '../api/read.js';
import { Markdown } from './markdown.js';
import { Empty, Loaded } from './parts.js';

/** The prompt that a run received. It is read when it is opened. */
export function RunPrompt({ runId }: { runId: string }) {
  const [isOpen, setOpen] = useState(false);
  const prompt = useRead(
    ['run', runId, 'prompt'],
    (api, signal) =>
      api
        .get('/api/v1/runs/{runId}/prompt', { params: { path: { runId } }, signal })
        .catch((error: unknown) => {
          if (error instanceof DroverProblem && error.code === 'prompt_not_found') return null;
          throw error;
        }),
    { enabled: isOpen },
  );
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Prompt</summary>
      {isOpen && (
        <Loaded query={prompt}>
          {(answer) =>
            answer === null ? (
              <Empty title="The run has received no prompt" small />
            ) : (
              <Markdown text={answer.prompt} />
            )
          }
        </Loaded>
      )}
    </details>
  );
}
