/**
 * Jest's own runner, by a name of its own: Jest runs each runner's files by themselves, two at a time here. So
 * files that measure silence, or put load on the machine, share the machine with each other, and not with hundreds of others.
 */
export { default } from 'jest-runner';
