import type { CommandSpec, Commands } from '../command.js';
import { present } from '../flags.js';
import { LIST_OPTIONS, listed } from '../lists.js';
import { lasting } from '../output/output.js';

const list: CommandSpec = {
  usage: 'list',
  summary: 'List the questions, those with the nearest deadline first',
  options: [
    ['--status <status>', 'open, answered, expired or cancelled; open unless given'],
    ['--task <id>', 'of this task'],
    ...LIST_OPTIONS,
  ],
  examples: ['question list', 'question list --status answered --json'],
  run: async (cli, _args, flags) => {
    const filter = present({
      status: (flags.text('status') ?? 'open') as 'open',
      taskId: flags.text('task'),
    });
    const questions = await listed(flags, (page) =>
      cli.drover.get('/api/v1/questions', { params: { query: { ...filter, ...page } } }),
    );
    cli.out.rows(
      questions,
      [
        { title: 'id', of: ({ id }) => id },
        { title: 'task', of: ({ taskId }) => taskId },
        { title: 'question', of: ({ prompt }) => prompt, wide: true },
        { title: 'choices', of: ({ choices }) => choices.join(', '), wide: true },
        {
          title: 'left',
          of: ({ deadlineAt }) => lasting((Date.parse(deadlineAt) - Date.now()) / 1000),
        },
      ],
      'Nobody asks anything.',
    );
  },
};

const show: CommandSpec = {
  usage: 'show <id>',
  summary: 'Show a question',
  examples: ['question show $QUESTION'],
  run: async (cli, [id = '']) => {
    const question = await cli.drover.get('/api/v1/questions/{id}', { params: { path: { id } } });
    cli.out.record(question, Object.entries(question));
  },
};

const answer: CommandSpec = {
  usage: 'answer <id> <answer>',
  summary: 'Answer a question; its task goes on from its checkpoint',
  examples: ['question answer $QUESTION yes'],
  run: async (cli, [id = '', text = '']) => {
    const params = { path: { id } };
    const question = await cli.drover.post('/api/v1/questions/{id}/answer', {
      params,
      body: { answer: text },
    });
    // As it is shown: what was typed may hold a secret, and this line may end in a log.
    cli.out.done(question, `Task ${question.taskId} goes on with "${question.answer ?? ''}"`);
  },
};

const commands: Commands = {
  question: { summary: 'Questions that runs ask people', commands: [list, show, answer] },
};

export default commands;
