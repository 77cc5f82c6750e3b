import { readFileSync } from 'node:fs';
import type { Cli } from '../cli.js';
import type { CommandSpec, Commands } from '../command.js';
import { clean } from '../output/clean.js';

const show: CommandSpec = {
  usage: 'show',
  summary: 'Print the template of the workspace, or the prompt of a run',
  options: [['--run <id>', 'a run, whose prompt is printed']],
  examples: ['prompt show > template.mustache', 'prompt show --run $RUN'],
  run: async (cli, _args, flags) => {
    const runId = flags.text('run');
    if (runId === undefined) {
      const answer = await cli.drover.get('/api/v1/prompt-template', {});
      return print(cli, answer, answer.template);
    }
    const params = { path: { runId } };
    const answer = await cli.drover.get('/api/v1/runs/{runId}/prompt', { params });
    print(cli, answer, answer.prompt);
  },
};

const preview: CommandSpec = {
  usage: 'preview <task>',
  summary: 'Print the prompt that the next run of a task receives',
  options: [['--file <path>', 'a template to try; - reads standard input']],
  examples: ['prompt preview $TASK', 'prompt preview $TASK --file template.mustache'],
  run: async (cli, [id = ''], flags) => {
    const path = flags.text('file');
    const body = path === undefined ? {} : { template: read(path) };
    const params = { path: { id } };
    const answer = await cli.drover.post('/api/v1/agent-tasks/{id}/prompt', { params, body });
    print(cli, answer, answer.prompt);
  },
};

const set: CommandSpec = {
  usage: 'set <file>',
  summary: 'Set the template of the workspace; - reads standard input',
  examples: ['prompt set template.mustache'],
  run: async (cli, [path = '']) => {
    const body = { template: read(path) };
    const answer = await cli.drover.put('/api/v1/prompt-template', { body });
    cli.out.done(answer, 'Template for prompts set');
  },
};

const reset: CommandSpec = {
  usage: 'reset',
  summary: 'Reset the template of the workspace to that of Drover',
  examples: ['prompt reset'],
  run: async (cli) => {
    await cli.drover.delete('/api/v1/prompt-template', {});
    cli.out.done({ source: 'default' }, 'Template for prompts reset');
  },
};

function read(path: string): string {
  return readFileSync(path === '-' ? 0 : path, 'utf8');
}

function print(cli: Cli, answer: unknown, text: string): void {
  if (cli.out.json) return cli.out.value(answer);
  cli.out.raw(`${clean(text)}\n`);
}

const commands: Commands = {
  prompt: {
    summary: 'Preview prompts of coding agents, and set their template',
    commands: [show, preview, set, reset],
  },
};

export default commands;
