/**
 * Completion scripts by shell. They read candidates from `gleaner complete`, one per line with a tab before
 * the description, and complete file names if there are none. They never evaluate the typed text.
 */
export const completionScripts: Readonly<Record<string, string>> = {
  bash: `_gleaner() {
  local value
  COMPREPLY=()
  while IFS=$'\\t' read -r value _; do
    [[ $value == :* ]] || COMPREPLY+=("$value")
  done < <(gleaner complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _gleaner gleaner
`,
  zsh: `#compdef gleaner
_gleaner() {
  local -a found
  local value about
  while IFS=$'\\t' read -r value about; do
    [[ $value == :* ]] || found+=("\${value//:/\\\\:}:$about")
  done < <(gleaner complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( $#found )); then _describe gleaner found; else _files; fi
}
if [[ $funcstack[1] == _gleaner ]]; then _gleaner "$@"; else compdef _gleaner gleaner; fi
`,
  fish: `function __gleaner_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l found (gleaner complete -- $words[2..] "$current" 2>/dev/null | string match -v ':*')
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path "$current"
  end
end
complete -c gleaner -f -a '(__gleaner_complete)'
`,
};
