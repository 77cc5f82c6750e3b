import { z } from 'zod';
import { personTool, type Tool } from './tool.js';
import { cursor, limit, uuid } from './fields.js';

export const PERSON_QUESTION_TOOLS: readonly Tool[] = [
  personTool(
    { role: 'VIEWER', scope: 'tasks:read' },
    {
      name: 'list_questions',
      title: 'List questions',
      description:
        'What runs have asked people, with the answers. Open ones hold their tasks back.',
      route: 'GET /api/v1/questions',
      effect: 'reads',
      input: z.strictObject({
        status: z.enum(['open', 'answered', 'expired', 'cancelled']).optional(),
        taskId: uuid().optional(),
        limit,
        cursor,
      }),
      call: ({ client, signal }, query) =>
        client.get('/api/v1/questions', { params: { query }, signal }),
    },
  ),
  personTool(
    { role: 'MEMBER', scope: 'questions:answer' },
    {
      name: 'answer_question',
      title: 'Answer a question',
      description:
        'Gives the answer of the person you work for, in their words: never one of your own. Its task goes on with it, and it cannot be taken back.',
      route: 'POST /api/v1/questions/{id}/answer',
      effect: 'ends',
      input: z.strictObject({
        questionId: uuid(),
        answer: z.string().describe('One of the choices, or any text where it may be'),
      }),
      call: ({ client, signal }, { questionId: id, answer }) =>
        client.post('/api/v1/questions/{id}/answer', {
          params: { path: { id } },
          body: { answer },
          signal,
        }),
    },
  ),
];
