import { expect, it } from '@jest/globals';
import { type Network, reachOf } from '#lib/kernel';
import { serversOfSession } from './servers-of-session.js';

const remote = (url: string) => ({ name: 'issues', isTrusted: false, url, headers: {} });
const reached = (url: string, network: Network, hosts: string[]) => {
  const reach = reachOf(network, hosts);
  return serversOfSession([remote(url)], { reach, proxy: {} });
};

it.each([
  ['https://mcp.example.com/v1', 'host', []],
  ['https://mcp.example.com/v1', 'allow', ['*.example.com']],
  ['http://mcp.example.com', 'allow', ['mcp.example.com']],
  ['http://mcp.example.com', 'allow', ['mcp.example.com:443']],
  ['https://mcp.example.com:8443/', 'allow', ['mcp.example.com:8443']],
] as const)('a session reaches %s with the network %s and %j', (url, network, hosts) => {
  expect(reached(url, network, [...hosts])).toEqual({ servers: [remote(url)], missing: [] });
});

it.each([
  ['none', [], 'its network is "none"'],
  ['allow', [], 'the allowed hosts of'],
  ['allow', ['mcp.example.com:443'], 'the allowed hosts of'],
] as const)('a server out of reach is left out with a reason: %s, %j', (network, hosts, why) => {
  const { servers, missing } = reached('https://mcp.example.com:8443/v1?a=b', network, [...hosts]);
  expect(servers).toEqual([]);
  expect(missing).toEqual([expect.stringContaining(`mcp.example.com:8443, because ${why}`)]);
  expect(missing.join()).toMatch(/^The agent has no MCP server issues: /);
});

it('a program knows the proxy of its session', () => {
  const server = { name: 'files', isTrusted: false, command: 'files', args: [], env: { A: 'b' } };
  const proxy = { HTTPS_PROXY: 'http://127.0.0.1:1' };
  const { servers } = serversOfSession([server], { reach: reachOf('none', []), proxy });
  expect(servers).toMatchObject([{ env: { A: 'b', ...proxy } }]);
});
