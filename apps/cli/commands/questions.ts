import type { CommandSpec, Commands } from '../command.js';
import { omitUndefined } from '../flags.js';
import { LIST_OPTIONS, readList } from '../lists.js';
import { formatDuration } from '../output/output.js';

const list: CommandSpec = {
  usage: 'list',
  summary: 'List questions, nearest deadline first',
  options: [
    ['--status <status>', 'open, answered, expired or cancelled (default open)'],
    ['--task <task>', 'task ID'],
    ...LIST_OPTIONS,
  ],
  examples: ['question list', 'question list --status answered --json'],
  run: async (cli, _args, flags) => {
    const filter = omitUndefined({
      status: (flags.text('status') ?? 'open') as 'open',
      taskId: flags.text('task'),
    });
    const questions = await readList(flags, (page) =>
      cli.drover.get('/api/v1/questions', { params: { query: { ...filter, ...page } } }),
    );
    cli.out.rows(
      questions,
      [
        { title: 'id', isId: true, of: ({ id }) => id },
        { title: 'task', isId: true, of: ({ taskId }) => taskId },
        { title: 'question', of: ({ prompt }) => prompt, wide: true },
        { title: 'choices', of: ({ choices }) => choices.join(', '), wide: true },
        {
          title: 'time left',
          of: ({ deadlineAt }) => formatDuration((Date.parse(deadlineAt) - Date.now()) / 1000),
        },
      ],
      'No questions found.',
    );
  },
};

const show: CommandSpec = {
  usage: 'show <question>',
  summary: 'Show a question',
  examples: ['question show $QUESTION'],
  run: async (cli, [id = '']) => {
    const question = await cli.drover.get('/api/v1/questions/{id}', { params: { path: { id } } });
    cli.out.record(question, Object.entries(question));
  },
};

const answer: CommandSpec = {
  usage: 'answer <question> <answer>',
  summary: 'Answer a question; its task resumes from its checkpoint',
  examples: ['question answer $QUESTION yes'],
  run: async (cli, [id = '', text = '']) => {
    const params = { path: { id } };
    const question = await cli.drover.post('/api/v1/questions/{id}/answer', {
      params,
      body: { answer: text },
    });
    // Print the redacted answer of the server, because the typed text can contain a secret.
    cli.out.done(
      question,
      `Task ${question.taskId} resumed with the answer "${question.answer ?? ''}"`,
    );
  },
};

const commands: Commands = {
  question: { summary: 'List and answer questions of runs', commands: [list, show, answer] },
};

export default commands;
