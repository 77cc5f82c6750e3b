import { describe, expect, it } from '@jest/globals';
import { readRequest } from './arguments.js';

const NO_NUMBER = '--workers needs a whole number from 0 to 32.';
const NO_DURATION = '--timeout needs a duration such as 90s, 30m, 2h or 1h30m.';
const unknown = (word: string) =>
  `${word} is no argument of this program: --help says which there are.`;

describe('The arguments of npm start', () => {
  it.each([
    ['', { kind: 'start', workers: 2, daemon: false }],
    ['--daemon', { kind: 'start', workers: 2, daemon: true }],
    ['--workers 0', { kind: 'start', workers: 0, daemon: false }],
    ['--daemon --workers=32', { kind: 'start', workers: 32, daemon: true }],
    ['stop', { kind: 'stop', finishSeconds: 0 }],
    ['stop --graceful', { kind: 'stop', finishSeconds: 300 }],
    ['stop --timeout 2h --graceful', { kind: 'stop', finishSeconds: 7_200 }],
    ['stop --graceful --timeout=90s', { kind: 'stop', finishSeconds: 90 }],
    ['status', { kind: 'status' }],
    ['stop --help', { kind: 'help' }],
    ['--nonsense -h', { kind: 'help' }],
  ])('valid arguments are parsed: %s', (line, request) => {
    expect(readRequest(line.split(' ').filter(Boolean))).toEqual(request);
  });

  it.each([
    ['--workers', NO_NUMBER],
    ['--workers 33', NO_NUMBER],
    ['--workers -1', NO_NUMBER],
    ['--workers 1.5', NO_NUMBER],
    ['--workers=', NO_NUMBER],
    ['--workers --daemon', NO_NUMBER],
    ['--daemon=yes', unknown('--daemon')],
    ['--deamon', unknown('--deamon')],
    ['--stop', unknown('--stop')],
    ['--workers 1 stop', unknown('stop')],
    ['stop --daemon', unknown('--daemon')],
    ['stop --graceful=yes', unknown('--graceful')],
    ['stop --graceful --timeout', NO_DURATION],
    ['stop --graceful --timeout soon', NO_DURATION],
    ['stop --timeout 5m', '--timeout needs --graceful.'],
    ['status stop', 'status takes no further arguments.'],
  ])('invalid arguments are refused in a sentence: %s', (line, sentence) => {
    expect(readRequest(line.split(' '))).toEqual({ kind: 'wrong', sentence });
  });
});
