import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useRead } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { Panel } from './parts.js';

const EVERY_MS = 5_000;

/** Reads whether the workspace has an agent, a task and a completed task. */
export function useFirstSteps() {
  return useRead(
    ['overview', 'first-steps'],
    async (api, signal) => {
      const one = { limit: 1 };
      const completed = { ...one, status: ['COMPLETED' as const, 'ARCHIVED' as const] };
      const [agents, tasks, done] = await Promise.all([
        api.get('/api/v1/agents', { params: { query: one }, signal }),
        api.get('/api/v1/agent-tasks', { params: { query: one }, signal }),
        api.get('/api/v1/agent-tasks', { params: { query: completed }, signal }),
      ]);
      const isAny = ({ items }: { items: unknown[] }) => items.length > 0;
      return { agent: isAny(agents), task: isAny(tasks), completed: isAny(done) };
    },
    { every: EVERY_MS, until: ({ completed }) => completed },
  );
}

type Steps = NonNullable<ReturnType<typeof useFirstSteps>['data']>;

/** The checklist of a new workspace, which stands for panels without content. */
export function FirstSteps({ steps }: { steps: Steps }) {
  const { may, name } = useWorkspace();
  return (
    <Panel title="First steps">
      <ol className="stack" aria-label="First steps">
        <Step isDone={steps.agent} title="Start a worker">
          {may('ADMIN') ? (
            <>
              Create an API key with the scope agents:write in the{' '}
              <Link to="/settings" className="link">
                settings
              </Link>
              . Then run on a machine of your own:
              <pre className="foreign" tabIndex={0}>
                {`DROVER_API_URL=${location.origin} DROVER_API_KEY=… drover worker start`}
              </pre>
            </>
          ) : (
            <>
              Ask an admin of the workspace <bdi>{name}</bdi> to start one.
            </>
          )}
        </Step>
        <Step isDone={steps.task} title="Create a task">
          {may('MEMBER') ? (
            <>
              Try{' '}
              <Link
                to="/tasks/new"
                search={{
                  title: 'Say hello',
                  taskType: 'command',
                  inputContext: { command: ['sh', '-c', 'echo hello'] },
                }}
                className="link"
              >
                a task that says hello
              </Link>
              .
            </>
          ) : (
            'A member of the workspace creates tasks.'
          )}
        </Step>
        <Step isDone={steps.completed} title="See it complete">
          The page of the task shows its log and its result. If it waits, the page explains why.
        </Step>
        <Step title="Set a budget">
          A{' '}
          <Link to="/budgets" className="link">
            budget
          </Link>{' '}
          limits the tokens that tasks can use.
        </Step>
        <Step title="Invite your team">
          Owners and admins invite members in the{' '}
          <Link to="/settings" className="link">
            settings
          </Link>
          .
        </Step>
      </ol>
    </Panel>
  );
}

interface StepProps {
  title: string;
  isDone?: boolean;
  children: ReactNode;
}

function Step({ title, isDone = false, children }: StepProps) {
  return (
    <li>
      <b>{title}</b>
      {isDone ? <span className="muted"> ✓ Done</span> : <div className="muted">{children}</div>}
    </li>
  );
}
