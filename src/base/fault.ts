export * from '../contract/fault.ts';
