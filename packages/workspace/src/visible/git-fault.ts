/** Git is missing or fails, and only git can tell which files may be seen. The message is for the terminal. */
export class GitFault extends Error {
  override readonly name = 'GitFault';

  constructor(message: string) {
    // Git's output may contain control characters from the repository.
    super(message.replace(/[\p{Cc}\p{Cf}]/gu, '?'));
  }

  static missing(directory: string): GitFault {
    return new GitFault(
      `${directory} is in a git repository, and git was not found: only git can say which files it ignores. Install git, or add it to PATH.`,
    );
  }

  static noWorkTree(directory: string): GitFault {
    return new GitFault(
      `${directory} is not in the work tree of its git repository: it is a bare repository, a part of .git, or core.worktree names another folder. Choose another folder.`,
    );
  }

  static failed(directory: string, output: string): GitFault {
    const reason = output.split('\n', 1)[0]!.replace(/^fatal: /, '') || 'it gave no reason';
    const advice = output.includes('safe.directory')
      ? ` If you trust it: git config --global --add safe.directory "${directory}"`
      : '';
    return new GitFault(
      `git cannot say which files of ${directory} it ignores: ${reason.slice(0, 500)}.${advice}`,
    );
  }
}
