import type { Command } from 'commander';

/** Adds a command with the options that all have. */
export type MakeCommand = (usage: string, summary: string) => Command;

/** Told the exit code of a command that has run. */
export type Done = (exitCode: number) => void;
