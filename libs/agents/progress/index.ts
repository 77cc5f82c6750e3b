export {
  type Circle,
  LIMITS,
  type Measure,
  ProgressJudge,
  type Verdict,
} from './judge/progress-judge.js';
