import 'reflect-metadata';
import { describe, expect, it, jest } from '@jest/globals';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { DroverError, newId } from '#lib/kernel';
import { Id, IdList, NestedList, OneOf, WholeId } from '../dto/fields.js';
import { type FindIds, MAX_SHORT_IDS, setShortIds } from '../parameters/short-ids.js';
import { readDto } from './pipe.js';

class Item {
  @Id('projects', { optional: true, nullable: true }) projectId?: string | null;
}

class Body {
  @IdList('agent-tasks', { maxItems: 2_000, optional: true }) ids?: string[];
  @Id('agent-tasks', { optional: true }) taskId?: string;
  @WholeId({ optional: true }) bootId?: string;
  @NestedList(() => Item, { maxItems: 10, optional: true }) items?: Item[];
  // The collection depends on a field that follows.
  @Id(
    ({ scope }: { scope?: string }) => (scope === 'agent' ? ['agents'] : ['projects', 'agents']),
    {
      optional: true,
    },
  )
  scopeId?: string;
  @OneOf(['agent'], { optional: true }) scope?: string;
}

const WHOLE = newId();
const OTHER = newId();
const THING = '0198aaaa-0000-7000-8000-000000000001';
const NEWER = '0198aaaa-0000-7000-8000-000000000002';

/** A request of a caller that has these things. Undefined: ids must be whole. */
function requestOf(things?: Partial<Record<string, string[]>>) {
  const find = jest.fn<FindIds>((collection, ranges) =>
    Promise.resolve(
      ranges.map(({ from, to }) =>
        (things?.[collection] ?? []).filter((id) => from <= id && id <= to),
      ),
    ),
  );
  const server = {} as FastifyInstance;
  setShortIds(server, { collections: new Set(), for: () => (things ? find : undefined) });
  return { request: { server } as FastifyRequest, find };
}

async function refusalOf(read: () => unknown): Promise<unknown> {
  try {
    await read();
  } catch (error) {
    return (error as DroverError).toProblem();
  }
  return undefined;
}

describe('ids of a request', () => {
  it('whole ids are read at once, without a look-up', () => {
    const { request, find } = requestOf({});
    const body = { ids: [WHOLE, OTHER], taskId: WHOLE, items: [{ projectId: OTHER }, {}] };
    expect(readDto(request, Body, body)).toEqual(body);
    expect(find).not.toHaveBeenCalled();
  });

  it('digits become whole ids, with one look-up for each collection', async () => {
    const { request, find } = requestOf({ 'agent-tasks': [THING], projects: [OTHER] });
    const body = {
      ids: [WHOLE, '0198AAAA', '0198-aaaa-0000'],
      taskId: '0198aaaa',
      items: [{ projectId: OTHER.slice(0, 30) }, { projectId: null }],
    };
    const before = structuredClone(body);
    expect(await readDto(request, Body, body)).toEqual({
      ids: [WHOLE, THING, THING],
      taskId: THING,
      items: [{ projectId: OTHER }, { projectId: null }],
    });
    expect(body).toEqual(before);
    expect(find).toHaveBeenCalledTimes(2);
  });

  it('digits of nothing become an id that begins with them', async () => {
    const read = readDto(requestOf({}).request, Body, { taskId: '0198b' });
    expect(await read).toEqual({ taskId: '0198b000-0000-7000-8000-000000000000' });
  });

  it('digits of several things are refused with their ids', async () => {
    const { request } = requestOf({ 'agent-tasks': [THING, NEWER] });
    const read = () => readDto(request, Body, { ids: [WHOLE, '0198aaaa'] });
    expect(await refusalOf(read)).toMatchObject({
      code: 'ambiguous_id',
      candidates: [THING, NEWER],
    });
  });

  it('another field can decide about the collection', async () => {
    const { request } = requestOf({ projects: [THING], agents: [NEWER] });
    const read = (body: object) => readDto(request, Body, { scopeId: '0198aaaa', ...body });
    expect(await read({ scope: 'agent' })).toMatchObject({ scopeId: NEWER });
    expect(await refusalOf(() => read({}))).toMatchObject({ candidates: [THING, NEWER] });
  });

  it.each([
    ['a caller who must send whole ids', undefined, { ids: ['0198aaaa'] }, 'ids'],
    ['three digits', {}, { taskId: '019' }, 'taskId'],
    ['no digits', {}, { items: [{}, { projectId: 'nightly' }] }, 'items[1].projectId'],
    ['an id that the client chooses', {}, { bootId: '0198aaaa' }, 'bootId'],
    [
      'too many different digits',
      {},
      { ids: Array.from({ length: MAX_SHORT_IDS + 1 }, (_, index) => String(10_000 + index)) },
      `ids[${MAX_SHORT_IDS}]`,
    ],
  ])('%s: the field is refused', async (_, things, body, field) => {
    const { request, find } = requestOf(things);
    expect(await refusalOf(() => readDto(request, Body, body))).toMatchObject({
      code: 'validation_failed',
      errors: [{ field }],
    });
    expect(find).not.toHaveBeenCalled();
  });
});
