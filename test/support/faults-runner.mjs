/**
 * Jest's own runner under another name: Jest runs each runner's files separately. So files that
 * measure silence, or load the machine, share it with each other, and not with hundreds of others.
 */
export { default } from 'jest-runner';
