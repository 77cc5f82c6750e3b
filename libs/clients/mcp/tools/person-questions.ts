import { z } from 'zod';
import { personTool, type Tool } from './tool.js';
import { cursor, limit, shortId } from './fields.js';

export const PERSON_QUESTION_TOOLS: readonly Tool[] = [
  personTool(
    { role: 'VIEWER', scope: 'tasks:read' },
    {
      name: 'list_questions',
      title: 'List questions',
      description:
        'Lists questions of runs to people, with their answers. The task of an open question ' +
        'waits for the answer.',
      route: 'GET /api/v1/questions',
      effect: 'reads',
      input: z.strictObject({
        status: z.enum(['open', 'answered', 'expired', 'cancelled']).optional(),
        taskId: shortId().optional(),
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
        'Sends the answer of your user, in their words. Never invent an answer. The task resumes ' +
        'with it, and you cannot undo it.',
      route: 'POST /api/v1/questions/{id}/answer',
      effect: 'ends',
      input: z.strictObject({
        questionId: shortId(),
        answer: z.string().describe('One of the choices, or any text if `freeText` is true.'),
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
