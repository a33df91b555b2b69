"""`python -m slackwater`: the command, where the script is not on the path."""

from slackwater.cli.main import main

main()
