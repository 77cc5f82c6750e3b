import { describe, expect, it } from '@jest/globals';
import { join } from 'node:path';

interface Report {
  success: boolean;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { status: string }[];
  }[];
}

const module = join(import.meta.dirname, '../../scripts/lib/second-runs.mjs');
const { judgeSecondRuns } = (await import(module)) as {
  judgeSecondRuns(
    first: Report,
    second: Record<string, Report | undefined>,
  ): Record<'success' | 'flaky' | 'failed' | 'numPassedTests' | 'numFailedTests', unknown>;
};

function fileOf(name: string, passed: number, failed: number): Report['testResults'][number] {
  const many = (count: number, status: string) => Array.from({ length: count }, () => ({ status }));
  return {
    name,
    status: failed > 0 ? 'failed' : 'passed',
    message: failed > 0 ? `why ${name} failed` : '',
    assertionResults: [...many(passed, 'passed'), ...many(failed, 'failed')],
  };
}

function reportOf(...testResults: Report['testResults']): Report {
  return { success: testResults.every(({ status }) => status === 'passed'), testResults };
}

const first = reportOf(fileOf('good', 5, 0), fileOf('bad', 2, 1));

describe('a run', () => {
  it('a run without a failure succeeds', () => {
    const verdict = judgeSecondRuns(reportOf(fileOf('good', 5, 0)), {});
    expect(verdict).toEqual({
      success: true,
      flaky: [],
      failed: [],
      numPassedTests: 5,
      numFailedTests: 0,
    });
  });

  it('a run succeeds if each failed file passes alone, and its report has the second run', () => {
    expect(judgeSecondRuns(first, { bad: reportOf(fileOf('bad', 3, 0)) })).toEqual({
      success: true,
      flaky: [{ name: 'bad', message: 'why bad failed' }],
      failed: [],
      numPassedTests: 8,
      numFailedTests: 0,
    });
  });

  it('a run fails if a file fails twice, and its report names the failed and the flaky ones', () => {
    const twice = reportOf(...first.testResults, fileOf('worse', 0, 1));
    const second = { bad: reportOf(fileOf('bad', 3, 0)), worse: reportOf(fileOf('worse', 0, 1)) };
    expect(judgeSecondRuns(twice, second)).toEqual({
      success: false,
      flaky: [{ name: 'bad', message: 'why bad failed' }],
      failed: [{ name: 'worse', message: 'why worse failed' }],
      numPassedTests: 8,
      numFailedTests: 1,
    });
  });

  it('a run fails if no second run happens or reports', () => {
    for (const second of [{}, { bad: undefined }])
      expect(judgeSecondRuns(first, second)).toMatchObject({ success: false, numFailedTests: 1 });
  });

  it('a run fails without a failed file if Jest says so', () => {
    const odd = { ...reportOf(fileOf('good', 5, 0)), success: false };
    expect(judgeSecondRuns(odd, {})).toMatchObject({ success: false, numPassedTests: 5 });
  });
});
