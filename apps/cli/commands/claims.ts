import type { Cli } from '../cli.js';
import type { Commands } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import { omitUndefined } from '../flags.js';

const RUN_OPTION = ['--run <id>', 'run ID, if the agent holds several runs of the task'] as const;
const EXAMPLE_TASK = '0198c0de-7000-7000-8000-000000000000';

const commands: Commands = {
  claim: {
    usage: 'claim [task-id]',
    summary: 'Claim a task for the agent of the token',
    about:
      'Claims the given task, or else the first task that the agent can claim. ' +
      'Set DROVER_AGENT_TOKEN to the token of the agent.',
    options: [
      ['--wait <duration>', 'maximum wait for a task, such as 30s'],
      ['--lease <duration>', 'duration of the lease, such as 30m'],
    ],
    examples: [`claim ${EXAMPLE_TASK} --lease 30m`, 'claim --wait 30s'],
    run: async (cli, [taskId], flags) => {
      const [wait, leaseSeconds] = [flags.seconds('wait'), flags.seconds('lease')];
      const id = await readOwnAgent(cli);
      const { tasks } = await cli.drover
        .with({ timeoutMs: (wait ?? 0) * 1000 + 30_000 })
        .post('/api/v1/agents/{id}/claim', {
          params: { path: { id } },
          body: omitUndefined({
            taskId,
            maxTasks: 1,
            leaseSeconds,
            waitMs: wait === undefined ? undefined : wait * 1000,
          }),
        });
      cli.out.rows(
        tasks,
        [
          { title: 'task', of: ({ task }) => task.id },
          { title: 'run', of: ({ run }) => run.id },
          { title: 'title', of: ({ task }) => task.title, wide: true },
        ],
        'No task to claim.',
      );
    },
  },
  'claim:renew': {
    usage: 'claim:renew <task-id>',
    summary: 'Renew the lease of a claimed task',
    options: [RUN_OPTION, ['--lease <duration>', 'new duration of the lease, such as 30m']],
    examples: [`claim:renew ${EXAMPLE_TASK} --lease 30m`],
    run: async (cli, [id = ''], flags) => {
      const answer = await cli.drover.post('/api/v1/agent-tasks/{id}/renew', {
        params: { path: { id } },
        body: omitUndefined({ runId: flags.text('run'), leaseSeconds: flags.seconds('lease') }),
      });
      cli.out.done(answer, `Lease of ${id} renewed until ${answer.leaseExpiresAt}`);
    },
  },
  'claim:release': {
    usage: 'claim:release <task-id>',
    summary: 'Release a claimed task for another agent',
    options: [RUN_OPTION, ['--reason <text>', 'reason for the log']],
    examples: [`claim:release ${EXAMPLE_TASK}`],
    run: async (cli, [id = ''], flags) => {
      const answer = await cli.drover.post('/api/v1/agent-tasks/{id}/release', {
        params: { path: { id } },
        body: omitUndefined({ runId: flags.text('run'), reason: flags.text('reason') }),
      });
      cli.out.done(answer, `${id} released`);
    },
  },
};

/** @throws Failure if the credentials are not those of an agent */
async function readOwnAgent(cli: Cli): Promise<string> {
  const { kind, agentId } = await cli.drover.get('/api/v1/auth/caller');
  if (kind === 'agent' && agentId) return agentId;
  throw new Failure(
    'Only an agent can claim a task, and these credentials are not an agent token.',
    'Create a token with `drover agent token AGENT`, and set DROVER_AGENT_TOKEN and DROVER_API_URL.',
    EXIT.refused,
  );
}

export default commands;
