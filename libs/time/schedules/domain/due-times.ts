import { Cron } from 'croner';

/** When a schedule is due: a cron expression in a time zone, or an interval. */
export interface ScheduleRule {
  cron: string | null;
  /** The IANA name of the zone of `cron`. */
  timeZone: string | null;
  everySeconds: number | null;
  /** The due times of an interval are this time plus multiples of it. */
  anchoredAt: Date;
}

/** The due times of a rule in order, each a whole second. */
export interface DueTimes {
  /** The first due time after `time`. Null if there is none. */
  after(time: Date): Date | null;
  /** The last due times up to and including `time`, at most `count`, the oldest first. */
  lastUpTo(time: Date, count: number): Date[];
}

export function dueTimesOf(rule: ScheduleRule): DueTimes {
  return rule.cron === null ? ofInterval(rule) : ofCron(rule.cron, rule.timeZone ?? 'UTC');
}

/** @returns the reason why the expression is refused; undefined if it is valid */
export function whyNoCron(expression: string): string | undefined {
  // Vixie cron has no "?". The library would read it as "*".
  if (expression.includes('?')) return 'must not contain "?"';
  try {
    const first = cronOf(expression, 'UTC').nextRun(new Date());
    return first === null ? 'is never due' : undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : '';
    return `must be a cron expression of five fields, or six with seconds: ${reason}`;
  }
}

/**
 * Fixed times (`30 2 * * *`) are due once a day: at the end of a gap that contains them, and in the
 * first of two equal hours. Expressions with `*` or `/` in seconds, minutes or hours follow the
 * elapsed time.
 */
function cronOf(expression: string, timezone: string): Cron {
  return new Cron(expression, {
    timezone,
    paused: true,
    mode: '5-or-6-parts',
    fixedTimeRule: 'no-wildcard',
  });
}

function ofCron(expression: string, timeZone: string): DueTimes {
  const cron = cronOf(expression, timeZone);
  return {
    after: (time) => cron.nextRun(time),
    lastUpTo(time, count) {
      // The library looks before a time, and counts in whole seconds.
      const before = new Date(Math.floor(time.getTime() / 1_000) * 1_000 + 1_000);
      return cron.previousRuns(count, before).sort((one, other) => one.getTime() - other.getTime());
    },
  };
}

function ofInterval({ everySeconds, anchoredAt }: ScheduleRule): DueTimes {
  const stepMs = (everySeconds ?? 0) * 1_000;
  const anchor = anchoredAt.getTime();
  const at = (step: number) => new Date(anchor + step * stepMs);
  const lastStep = (time: Date) => Math.floor((time.getTime() - anchor) / stepMs);
  return {
    after: (time) => at(Math.max(1, lastStep(time) + 1)),
    lastUpTo(time, count) {
      const last = lastStep(time);
      const first = Math.max(1, last - count + 1);
      return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => at(first + index));
    },
  };
}

/** The next `count` due times after `time`. */
export function nextDueTimes(times: DueTimes, time: Date, count: number): Date[] {
  const found: Date[] = [];
  for (let next = times.after(time); next && found.length < count; next = times.after(next)) {
    found.push(next);
  }
  return found;
}
