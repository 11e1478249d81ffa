import type { Command } from 'commander';

/** Adds a command with the common options. */
export type MakeCommand = (usage: string, summary: string) => Command;

/** Called with the exit code of a command. */
export type Done = (exitCode: number) => void;
