import { describe, expect, it } from '@jest/globals';
import { Turns } from './turns.js';

function aSession(staysOpen = false) {
  const log: string[] = [];
  const io = {
    write: () => {},
    endInput: () => void log.push('close'),
    emit: (event: { type: string; ids?: string[] }) =>
      void log.push([event.type, ...(event.ids ?? [])].join(' ')),
  };
  const commands = {
    begin: (words: string) => void log.push(`begin ${words}`),
    interrupt: () => void log.push('interrupt'),
  };
  return { log, turns: new Turns(io, commands, { prompt: 'prompt', staysOpen }) };
}

describe('the turns of a session', () => {
  it('a session of one prompt closes its input after the turn', () => {
    const { log, turns } = aSession();
    turns.ready();
    turns.turnEnded('completed');
    expect(log).toEqual(['begin prompt', 'turn_ended', 'close']);
  });

  it('words in mid-turn are said after it', () => {
    const { log, turns } = aSession();
    turns.ready();
    turns.say('more', 'turn_end');
    turns.turnEnded('completed');
    expect(log).toEqual(['begin prompt', 'turn_ended', 'begin more']);
  });

  it('words can interrupt the turn', () => {
    const { log, turns } = aSession();
    turns.ready();
    turns.say('stop', 'interrupt');
    turns.turnEnded('interrupted');
    expect(log).toEqual(['begin prompt', 'interrupt', 'turn_ended', 'begin stop']);
  });

  it('words before the start are said with the prompt', () => {
    const { log, turns } = aSession();
    turns.say('more', 'turn_end');
    turns.ready();
    expect(log).toEqual(['begin prompt\n\nmore']);
  });

  it('an interrupt before the start ends the session without a turn', () => {
    const { log, turns } = aSession();
    turns.interrupt();
    turns.ready();
    expect(log).toEqual(['turn_ended', 'close']);
    expect(turns.outcome).toBe('interrupted');
  });

  it('an open session waits for words until it is finished', () => {
    const { log, turns } = aSession(true);
    turns.ready();
    turns.turnEnded('completed');
    turns.say('more', 'turn_end');
    turns.turnEnded('completed');
    turns.finish();
    expect(log).toEqual(['begin prompt', 'turn_ended', 'begin more', 'turn_ended', 'close']);
  });

  it('words are heard when their turn begins', () => {
    const { log, turns } = aSession();
    turns.ready();
    turns.say('more', 'turn_end', 'a');
    turns.say('and more', 'turn_end', 'b');
    expect(log).toEqual(['begin prompt']);
    turns.turnEnded('completed');
    expect(log.slice(1)).toEqual(['turn_ended', 'begin more\n\nand more', 'heard a b']);
  });

  it('an interrupt of the session drops waiting words', () => {
    const { log, turns } = aSession();
    turns.ready();
    turns.say('more', 'turn_end', 'a');
    turns.interrupt();
    turns.turnEnded('interrupted');
    expect(log).toEqual(['begin prompt', 'interrupt', 'turn_ended', 'close']);
  });

  it('a pause ends the session after the turn, without the waiting words', () => {
    const { log, turns } = aSession(true);
    turns.pauseAfterTurn(true);
    turns.ready();
    turns.say('more', 'turn_end', 'a');
    turns.turnEnded('completed');
    expect(log).toEqual(['begin prompt', 'turn_ended', 'close']);
    expect(turns.isPaused).toBe(true);
  });

  it('a withdrawn pause changes nothing, and one after the end comes too late', () => {
    const { log, turns } = aSession();
    turns.ready();
    turns.pauseAfterTurn(true);
    turns.say('more', 'turn_end');
    turns.pauseAfterTurn(false);
    turns.turnEnded('completed');
    turns.turnEnded('completed');
    turns.pauseAfterTurn(true);
    expect(log).toEqual(['begin prompt', 'turn_ended', 'begin more', 'turn_ended', 'close']);
    expect(turns.isPaused).toBe(false);
  });

  it('a failed turn ends the session, and waiting words are not said', () => {
    const { log, turns } = aSession(true);
    turns.ready();
    turns.say('more', 'turn_end');
    turns.turnEnded('failed');
    turns.say('again', 'turn_end');
    expect(log).toEqual(['begin prompt', 'turn_ended', 'close']);
  });
});
