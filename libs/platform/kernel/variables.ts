const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,255}$/;
/** Variables that make a program load or run something else than it was allowed to be. */
const INTERPRETED =
  /^(LD_.*|DYLD_.*|NODE_OPTIONS|BASH_ENV|ENV|PERL5OPT|RUBYOPT|PYTHONSTARTUP|GIT_SSH.*)$/;

/** What is wrong with a name of a variable that somebody else's process is to get; null when nothing is. */
export function whyNoVariable(name: string): string | null {
  if (!NAME.test(name)) return 'is no name of a variable';
  if (name.startsWith('DROVER_')) return 'is set by Drover, as all DROVER_ variables are';
  if (!INTERPRETED.test(name)) return null;
  return 'is not passed: it would make programs run something else';
}
