import autocannon from 'autocannon';

export interface Load {
  url: string;
  path: string | ((connection: number) => string);
  connections: number;
  seconds: number;
  headers: (connection: number) => Record<string, string>;
  body: unknown;
}

/**
 * Sends requests of one kind over many connections. Each sends the next one after its answer.
 *
 * @returns answers per second
 * @throws Error if any answer is not a success, because a server that refuses is fast
 */
export async function postsPerSecond(load: Load): Promise<number> {
  let connection = 0;
  const body = JSON.stringify(load.body);
  const setupClient = (client: autocannon.Client): void => {
    const number = connection++;
    const path = typeof load.path === 'string' ? load.path : load.path(number);
    const headers = { 'content-type': 'application/json', ...load.headers(number) };
    client.setRequests([{ method: 'POST', path, headers, body }]);
  };
  const { url, connections, seconds } = load;
  const result = await autocannon({ url, connections, duration: seconds, setupClient });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${result.non2xx} refusals and ${result.errors} errors under load`);
  }
  return result['2xx'] / result.duration;
}
