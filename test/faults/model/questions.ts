import { expect } from '@jest/globals';
import fc from 'fast-check';
import { at, Deed, index, often } from './deed.js';
import { endRun, move, reconsider, type Verdict } from './rules.js';
import {
  isLive,
  type Model,
  type OnDeadline,
  type Question,
  type Run,
  type Task,
} from './state.js';
import { verdictOf, type World } from './world.js';

const CHOICES = ['yes', 'no'] as const;
const DEFAULT = 'no';

interface Asking {
  prompt: string;
  onDeadline: OnDeadline;
  checkpoint?: number;
}

/** The question ends the run and makes its task wait. */
function ask(model: Model, run: Run, { prompt, onDeadline, checkpoint }: Asking): Verdict {
  if (!isLive(run)) {
    const isRepeated = model.questions.some(
      (asked) => asked.run === run && asked.prompt === prompt,
    );
    return isRepeated ? 201 : 'stale_run';
  }
  const { task } = run;
  if (task.status === 'PAUSED') return 'illegal_transition';
  move(model, task, 'PAUSED');
  if (checkpoint !== undefined) task.checkpoint = checkpoint;
  endRun(run, 'RELEASED', 'question');
  const asked: Question = {
    id: '',
    run,
    task,
    prompt,
    onDeadline,
    status: 'open',
    answer: null,
    byUser: false,
    isDue: false,
  };
  task.question = asked;
  model.questions.push(asked);
  return 201;
}

function answer(model: Model, question: Question, text: string): Verdict {
  if (question.status !== 'open') {
    return question.byUser && question.answer === text ? 200 : 'question_closed';
  }
  Object.assign(question, { status: 'answered', answer: text, byUser: true });
  goOn(model, question.task, text);
  return 200;
}

/** Returns the task with its answer to its old place in the queue. */
function goOn(model: Model, task: Task, text: string): void {
  const { readySince } = task;
  task.question = null;
  move(model, task, 'PENDING');
  task.readySince = readySince;
  task.answers.push(text);
  reconsider(task);
}

/** The coordinator does this at their deadlines. */
export function expireQuestions(model: Model): void {
  for (const question of model.questions) {
    if (question.status !== 'open' || !question.isDue) continue;
    question.status = 'expired';
    if (question.onDeadline === 'default') {
      question.answer = DEFAULT;
      goOn(model, question.task, DEFAULT);
    } else {
      question.task.question = null;
      move(model, question.task, 'FAILED');
      question.task.failureReason = 'question_expired';
    }
  }
}

async function askAs(model: Model, world: World, run: Run, asking: Asking): Promise<void> {
  const { prompt, onDeadline, checkpoint } = asking;
  const said = await world.as(run.agent).post<{ id: string }>(`/runs/${run.id}/questions`, {
    prompt,
    choices: CHOICES,
    deadlineSeconds: 86_400,
    onDeadline,
    default: DEFAULT,
    ...(checkpoint !== undefined && { checkpointData: { n: checkpoint } }),
  });
  if (run.agent.life === 'TERMINATED' && said.status === 401) return;
  expect(verdictOf(said)).toBe(ask(model, run, asking));
  const asked = model.questions.find((question) => question.run === run);
  if (said.status === 201 && asked) {
    if (asked.id === '') asked.id = said.body.id;
    expect(said.body.id).toBe(asked.id);
  }
}

export const asking = fc
  .record({
    run: index,
    again: fc.nat({ max: 3 }).map((n) => n === 0),
    prompt: fc.constantFrom('Go on?', 'Go on?', 'Stop?'),
    onDeadline: fc.constantFrom<OnDeadline>('default', 'default', 'fail'),
    checkpoint: fc.option(fc.nat({ max: 50 }), { nil: undefined }),
  })
  .map(
    ({ run: n, again, ...asked }) =>
      new Deed(
        `ask(${again ? 'run' : 'live run'} ${n}, ${JSON.stringify(asked)})`,
        (model) => (again ? model.runs : model.runs.filter(isLive)).length > 0,
        (model, world) =>
          askAs(model, world, at(again ? model.runs : model.runs.filter(isLive), n), asked),
      ),
  );

const openOf = (model: Readonly<Model>): Question[] =>
  model.questions.filter(({ status }) => status === 'open');

export const answering = fc
  .record({
    question: index,
    open: fc.nat({ max: 3 }).map((n) => n > 0),
    text: fc.constantFrom(...often(4, 'yes'), ...often(2, 'no'), 'perhaps'),
  })
  .map(
    ({ question: n, open, text }) =>
      new Deed(
        `answer(${open ? 'open question' : 'question'} ${n}, ${text})`,
        (model) => (open ? openOf(model) : model.questions).length > 0,
        async (model, world) => {
          const question = at(open ? openOf(model) : model.questions, n);
          const said = await world.api.post(`/questions/${question.id}/answer`, { answer: text });
          const isChoice = CHOICES.some((choice) => choice === text);
          const verdict = isChoice ? answer(model, question, text) : 'validation_failed';
          expect(verdictOf(said)).toBe(verdict);
        },
      ),
  );

export const deadlinePassing = index.map(
  (n) =>
    new Deed(
      `deadlinePasses(question ${n})`,
      (model) => openOf(model).length > 0,
      async (model, world) => {
        const question = at(openOf(model), n);
        await world.letDeadlinePass(question.id);
        question.isDue = true;
      },
    ),
);
