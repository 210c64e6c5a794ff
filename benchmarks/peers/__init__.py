"""What does a page cost other crawlers?"""
